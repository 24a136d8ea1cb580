import { COPY_WEIGHTS, FULL_LIFT } from '../../lib/copy-score';
import { type Definition, written } from '../../lib/definition';
import { PLAIN, STRONG } from './pressure';
import { WEIGHTS as FRESH } from './queries/fresh-whales';
import { DIRECTED, FULL_WALLETS, STRENGTHS } from './queries/smart-wallets-signals';
import { DEVIATIONS } from './rollups/timings';
import { SHARPE } from './queries/trader-stats';
import { NEWEST_FILLS } from './scoring/behaviour';
import { FEWEST_MATCHES, MOST_LEADERS } from './scoring/copiers';
import { S_PERP } from './scoring/formula';
import { CLUSTER } from './scoring/self-trades';
import { PERP_TAGS } from './scoring/tags';
import { AVERAGE_SCORE, ELITE_SCORE, SMART_SCORE } from './tier';

const { activity, accuracy, profit, few_round_trips, one_coin_day } = S_PERP;

/** How the figures of perpetual futures are computed. */
export const methodology: readonly Definition[] = [
  {
    id: 'perps-fills',
    title: 'Fills, sides and flips',
    text: `A fill is one account's part of a match. \`side\` says what it did to the account's position: Open Long, Close Short (both buys), Open Short, Close Long (both sells); \`direction\` is the position it belongs to, \`trade_side\` BUY or SELL. A fill that turns a long into a short, or back, is a flip: it is listed as a close and an open with one \`trade_id\`, counts as one fill, its fee is shared out by size and its closed PnL belongs to the close. \`min_usd\` looks at each of the two rows. A liquidation or auto-deleveraging is a close; the flag is on the account that was closed.

Market-wide \`total_trades\` and \`trade_count\` are matches, those of an account its fills. Fills of which no side on record says who took count in volume, not in buys and sells; a warning tells how many. A settlement (a coin is taken off, and the venue closes what is held) is a fill of its account and no match: \`is_taker\` is null.`,
  },
  {
    id: 'perps-volume',
    title: 'Coin volume',
    text: `Volume of a coin or the venue = Σ price · size of matches, each once ("Match counting"). \`buy_volume_usd\` and \`sell_volume_usd\` are what takers bought and sold. Volume of an account = Σ of all its own fills. Price = the last fill before the instant; \`price_change_pct\` compares it with the last fill before the window.`,
  },
  {
    id: 'perps-pnl',
    title: 'Trader PnL',
    text: `\`total_pnl\` and \`pnl\` = Σ closed PnL of fills as the venue reports it, before fees; \`net_pnl\` = after fees. Funding is not in it, and neither is what open positions gain. \`roi_pct\` = 100 · PnL / entry value of what was closed. \`max_drawdown_usd\` = largest fall of the running sum of closed PnL from its peak, beginning at 0, fill by fill.

\`sharpe\` = mean / sample deviation of the daily PnL after fees, from the first to the last active day with idle days as 0, · sqrt(${SHARPE.year}); null with fewer than ${SHARPE.active_days} active days.`,
  },
  {
    id: 'perps-round-trips',
    title: 'Round trips',
    text: `A round trip of an account in a coin runs from flat to flat; a flip ends one and begins the next. It belongs to the window in which it closes, whole. It is won when its PnL after fees is above 0. \`closing_trades\`, \`winning_trades\`, \`losing_trades\`, win rate, \`profit_factor\` (Σ gains / |Σ losses|), best and worst trade, mean gain, loss and holding time are of round trips. One whose opening was not seen counts, but not in the holding time; one whose end was not seen does not. A remainder below one billionth of the size is flat.`,
  },
  {
    id: 'perps-positions',
    title: 'Open positions from fills',
    text: `What an account holds is rebuilt from its fills: size, average entry of what was opened since flat, \`usd_value\` at the last price, PnL realized since it was opened. Unrealized PnL, leverage and margin are not told. \`opened_at\` is null where the opening was not seen, \`entry_price\` where no open since flat was: of a position that was held before, it is that of what was added.`,
  },
  {
    id: 'perps-score',
    title: 'Trader score',
    text: `0-100, over the account's whole life, all sums after fees. Version \`${S_PERP.version}\`.

score = min(${activity.per_doubling} · log2(fills + 1), ${activity.at_most}) + ${accuracy.span} · w + min(${profit.per_tenfold} · log10(PnL + 1), ${profit.at_most}), the last part only for a PnL above 0. w = lower bound of the share of round trips won ("Win rate"). Null while no round trip has closed.

Caps: fewer than ${few_round_trips.below} round trips: at most ${few_round_trips.at_most} (\`few_round_trips\`); one coin on one UTC day made ${100 * one_coin_day.share} % or more of the PnL: at most ${one_coin_day.at_most} (\`one_coin_day\`).

Tiers: \`elite\` from ${ELITE_SCORE}, \`smart\` from ${SMART_SCORE}, \`average\` from ${AVERAGE_SCORE}, \`novice\` below, \`unscored\` without a score. An account is smart from ${SMART_SCORE} on. With activity and profit at their most, ${SMART_SCORE} still needs w of ${(SMART_SCORE - activity.at_most - profit.at_most) / accuracy.span}. \`explain=true\` shows the parts.`,
  },
  {
    id: 'perps-tags',
    title: 'Trader tags',
    text: `Told by the daily run, over the whole life. \`elite\`, \`smart\`: by score. \`whale\`: a position of $${written(PERP_TAGS.whale_usd)} or more at entry. \`specialist\`: ${100 * PERP_TAGS.specialist.share} % of its volume in one coin, with ${PERP_TAGS.specialist.round_trips} round trips there. \`fresh\`: first fill less than ${PERP_TAGS.fresh_days} days ago. \`one_hit\`: one coin on one day made ${100 * one_coin_day.share} % or more of its PnL. \`liquidated\`: was liquidated once. \`scalper\`: median holding time below ${PERP_TAGS.scalper_below_seconds / 60} minutes; \`swing\`: ${PERP_TAGS.swing_from_seconds / 3_600} hours or more.

\`copy_trader\`: its entries follow those of one of the ${MOST_LEADERS} best smart accounts in the same coin and direction, within 60 minutes, over 30 days, ${FEWEST_MATCHES} times or more, and the leader follows it less than half as often; ${COPY_WEIGHTS.precision} · precision + ${COPY_WEIGHTS.coverage} · coverage + ${COPY_WEIGHTS.lift} · min(lift/${FULL_LIFT}, 1) + ${COPY_WEIGHTS.regularity} · regularity of lags is ${PERP_TAGS.copy_score} or more: precision = its entries that follow so / all of its entries, coverage = entries of the leader that it follows / all of the leader's, lift = precision / share of everybody's entries that follow the leader's so, regularity as in "Copying".

Machines, left out of rankings unless \`include_bots\`: \`market_maker\`: ${PERP_TAGS.market_maker.fills} fills or more, ${100 * PERP_TAGS.market_maker.maker_share} % of them as maker, |buys − sells| at most ${100 * PERP_TAGS.market_maker.net_share} % of volume. \`wash\`: ${100 * PERP_TAGS.wash_share} % or more of its volume against itself or its cluster: accounts that each have ${100 * CLUSTER.share} % of their matches, and ${CLUSTER.matches}, with the other. \`vault\`: on the venue's list of vaults. \`hft_bot\`: ${PERP_TAGS.hft_bot.fills_a_day} fills or more per active day, or a median gap below ${PERP_TAGS.hft_bot.gap_seconds} seconds with ${PERP_TAGS.hft_bot.gap_fills} fills (of its newest ${written(NEWEST_FILLS)}); the tag alone does not leave it out.`,
  },
  {
    id: 'perps-ratio',
    title: 'Long-short ratio',
    text: `Takers only: long volume = what takers bought (Open Long + Close Short), short volume = what they sold (Open Short + Close Long), in USD. ratio = long / short, null when short is 0; \`long_pct\` = 100 · long / (long + short). \`opening_long_short_ratio\` = takers' Open Long / Open Short. Smart figures are smart accounts' own fills, as maker or taker.`,
  },
  {
    id: 'perps-pressure',
    title: 'Pressure',
    text: `What takers opened in the window: long pressure = Σ Open Long USD, short pressure = Σ Open Short USD; closes are left out. \`pressure_ratio\` = (long − short) / (long + short), −1 to 1, null when nothing was opened. \`pressure_label\`: \`strong_buy\` from ${STRONG}, \`buy\` from ${PLAIN}, \`strong_sell\` and \`sell\` likewise below 0, else \`neutral\`. \`long_avg_entry\` and \`short_avg_entry\` = USD opened / size opened.`,
  },
  {
    id: 'perps-smart-signal',
    title: 'Exposure signal',
    text: `Per coin, from the fills of accounts with \`min_score\` or more in the window. Buys raise exposure, sells lower it. With w = score/100: net = Σ w · (buys − sells), gross = Σ w · (buys + sells). \`direction\`: \`Long\` when net / gross > ${DIRECTED}, \`Short\` when < −${DIRECTED}, else \`Neutral\`. \`signal_score\` = 100 · |net| / gross · sqrt(min(n, ${FULL_WALLETS})/${FULL_WALLETS}), where n = (Σ gross)² / Σ gross² is the effective number of accounts: a signal of one account alone is at most ${Math.round(100 * Math.sqrt(1 / FULL_WALLETS))}. \`signal_strength\`: \`weak\` from ${STRENGTHS.weak}, \`moderate\` from ${STRENGTHS.moderate}, \`strong\` from ${STRENGTHS.strong}, null below.`,
  },
  {
    id: 'perps-fresh',
    title: 'Fresh-whale score',
    text: `\`suspicion_score\` = ${FRESH.age} · age + ${FRESH.size} · size + ${FRESH.concentration} · concentration + ${FRESH.win_rate} · win rate + ${FRESH.timing} · timing; each 0-1, what is unknown counts 0. age = (max_wallet_age_days − age in days) / max_wallet_age_days. size = log10(volume / min_volume) / 2, full at 100 times. concentration = share of the largest coin in the volume. win rate = lower bound of round trips won. timing = share of opens that a favourable move followed within 24 hours, of at least ${DEVIATIONS} standard deviations of the coin's hourly returns over the 7 days before, from each hour with a fill to the next one. Age is since the first fill on record.`,
  },
  {
    id: 'perps-missing',
    title: 'What is estimated or missing on perpetual futures',
    text: `Funding, margin, unrealized PnL and open orders are not on record. Spot and outcome trades are not in scope. Where only one account's side of a match was seen, the match counts once in market figures. Both sides of a match that is told without a trade id are known by its transaction, instant, price and size; where no transaction is told either, each counts. A fee paid in another token than dollars is null and left out of sums. An account can be older than its first fill seen.`,
  },
];
