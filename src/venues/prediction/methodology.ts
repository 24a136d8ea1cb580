import { COPY_WEIGHTS, FULL_LIFT } from '../../lib/copy-score';
import { type Definition, written } from '../../lib/definition';
import { CATEGORIES } from '../../lib/category';
import { FEWEST_WALLETS, TOGETHER_MS } from './consensus';
import { SHARPE_MIN } from './positions/figures';
import { SHARPE_PRIOR } from './queries/ended-figures';
import { FULL as CONVICTION_FULL, PARTS as CONVICTION } from './resolvers/signals-conviction';
import { LEANS, NOTICEABLE } from './resolvers/flows-sentiment';
import { PHASE_FROM } from './resolvers/signals-flow';
import { HYBRID } from './resolvers/markets-similar';
import { ENOUGH_WALLETS, FAR_HOURS, FULL_GAP, NEAR_HOURS, STRENGTHS, WEIGHTS } from './resolvers/signals-opportunities';
import { ENOUGH_WALLETS as SIGNAL_WALLETS, STRENGTHS as SIGNAL_STRENGTHS } from './resolvers/signals-smart';
import { CLEAR_STRENGTH } from './resolvers/signals-views';
import { BELONGS_USDC } from './rollups/told-wallets';
import { WASH_DAYS, WASH_MATCHES, WASH_SECONDS } from './scoring/behaviour';
import { COPY_SCORE } from './scoring/copying';
import { D_INS } from './scoring/insider';
import { MOST_AGE_DAYS } from './scoring/insider-job';
import { MOST_SURVIVORS } from './scoring/insider-phases';
import { S_PM } from './scoring/parameters';
import { PM_TAGS } from './scoring/tags';
import { AVERAGE_SCORE, ELITE_SCORE, MACHINE_TAGS, SMART_SCORE } from './scoring/tiers';

const signalStrength = (word: string): number => SIGNAL_STRENGTHS.find(([name]) => name === word)?.[1] ?? Number.NaN;
const { smart, between, dumb, newcomer, trivial_edge, one_hit, confidence } = S_PM;
const [Z, VOID] = [S_PM.significant_z, 'refunded'];

/** How the figures of the prediction market are computed. */
export const methodology: readonly Definition[] = [
  {
    id: 'pm-markets',
    title: 'Markets, outcomes and categories',
    text: `A market is one question with outcomes; each outcome is a token that pays 1 USDC if it wins and 0 if not. An event groups markets about the same thing. Status: \`active\`; \`closed\` (its end date is past, or the venue closed it, and it is not resolved); \`resolved\`; \`voided\` (${VOID}: every outcome pays its refund).

Each market has one category: ${CATEGORIES.join(', ')}. Esports, Mentions and Weather are tested first, then the others in this order, by the venue's own tags; the first that fits is taken, \`Other\` when none does.

Price of an outcome: what it paid once resolved; else its last fill; else, of two outcomes, 1 − the last fill of the other; else the price the venue's catalogue states; else null. \`leader\` is the outcome with the highest price, the first of equals. \`price_change\` compares with the price at the start of the window; where no fill had told that by then, with the first one that did.`,
  },
  {
    id: 'pm-volume',
    title: 'Market volume',
    text: `Volume of a market, a category or the venue = Σ USDC of taker fills, BUY and SELL, all outcomes: each match once ("Match counting"). \`buy_volume\` and \`sell_volume\` are the parts that takers bought and sold; \`buy_sell_ratio\` is one over the other. Redemptions, splits, merges and conversions are no trades and no volume. Rows that no list of takers names, those of makers and those known only from a wallet's own history, count for their wallet, not for the market.

Volume of a wallet = Σ USDC of all its own fills, BUY and SELL, as maker or taker. \`unique_traders\` of a market, a category or a group counts different takers; \`active_traders\` of the venue counts wallets with any fill.`,
  },
  {
    id: 'pm-positions',
    title: 'Positions and realized gain',
    text: `A position is one wallet's holding of one outcome token, from its first purchase on. Cost is averaged per token. BUY adds shares at what was paid. SELL realizes proceeds − average cost · shares sold. A SPLIT turns USDC into a share of every outcome: it is a purchase of all of them, and a MERGE a sale of all of them, the cash shared out by their last prices (scaled to add up to 1; a missing price is what the others leave; none known: equal parts). A CONVERSION of No shares in a group of markets moves their cost to the Yes shares received and to the cash received, by value; the part that falls on cash is realized. Conversions of one transaction are told apart by their number of shares. Resolution realizes (payout − average cost) · shares held, at the time of resolution. A redemption afterwards is cash only and realizes nothing; a refund resolves at the refund price.

Status of a position: \`open\`; \`closed\` (sold out before resolution); \`resolved\`; \`voided\` (${VOID}). A position that is bought again after it was sold out is the same one, open again. \`realized_pnl_usdc\` is its gain so far, \`pnl_components\` split it into sales, resolution, conversion and merge. \`unrealized_pnl_usdc\` = shares · price − cost of the shares left, null once ended or without a price.

\`cost_usdc\` = all purchases and splits, also of shares that were sold since (in a portfolio: the average cost of the shares still held), \`proceeds_usdc\` = sales, merges and the payout, \`avg_buy_price\` = Σ paid / Σ shares bought, \`roi_pct\` = 100 · (realized + unrealized) / cost, \`won\` = whether shares held at resolution paid 1; null for all that was sold before.

Shares that were given away but never seen to come (history cut off, transfers) are left out: they make no gain and no loss. The venue tells no fee of a fill by itself: \`fee_usdc\` is null. Where a wallet's own history tells a fill, \`usdc_size\` is the USDC it states: of a purchase by a taker that is price · size and the fee on top, which so is part of the cost. The list of everybody's fills states price and size alone: there \`usdc_size\` is price · size, and nothing is taken off.`,
  },
  {
    id: 'pm-ended',
    title: 'Figures of ended positions',
    text: `Profit of a wallet in a window = Σ gain of positions that ended (closed, resolved, ${VOID}) in it, each with its whole life. What was booked on positions still open is told apart. \`roi_pct\` = 100 · Σ gain / Σ cost. \`win_rate\` follows "Win rate" and leaves refunded positions out. \`profit_factor\` = Σ gains / |Σ losses|, null without a loss. \`max_drawdown_usdc\` = largest fall of the running sum of gains from its peak, beginning at 0, in the order positions ended; what ended at one instant is one step. \`brier\` = mean (entry price − payout)² of resolved positions: 0 is perfect, shown and not scored. \`largest_event_share\` = gain of the event that gained most / net gain, at most 1, null without a net gain; of positions that the wallet score looks at: cost at least $${S_PM.min_cost_usdc}, not ${VOID}. \`edge\` is told by "Wallet score".

\`sharpe\` = mean / sample deviation of returns, where the return of a position is gain / cost cut to −${-S_PM.return_min} … ${S_PM.return_max}; null below ${SHARPE_MIN} positions and when returns do not vary by a millionth; not per year. Rankings shrink what few positions tell: by Sharpe value sharpe · n/(n + ${SHARPE_PRIOR}), by ROI mean return · n/(n + ${S_PM.return_prior}), by win rate its lower bound. \`rank_value\` is what was ranked.`,
  },
  {
    id: 'pm-score',
    title: 'Wallet score',
    text: `What a wallet's forecasts were worth against the prices it paid, 0-100. Version \`${S_PM.version}\`.

What counts: positions that have ended, cost at least $${S_PM.min_cost_usdc} and were not ${VOID}. e = average entry price, y = what a share brought (payout, sale, or both by shares). Entries at ${S_PM.carry_entry} or more are carry, not a forecast: they count for profit, not for skill. n = number of forecasts. A position weighs half as much every ${S_PM.half_life_days} days after it ended.

edge = weighted mean of (y − e), in price points. Its standard error is the spread between events (positions of one event are not independent), and never less than what fair prices alone would give, sqrt(Σ w² e(1 − e)) / Σ w. z is edge / error as a standard normal number: with G events edge / error is Student's t with G − 1 degrees of freedom, and z the normal number that is as unlikely; with one event it is 0.

r = weighted mean of gain / cost of the forecasts, each cut to −${-S_PM.return_min} … ${S_PM.return_max}, times n/(n + ${S_PM.return_prior}). p = (profitable months + ${S_PM.month_prior.profitable}) / (active months + ${S_PM.month_prior.active}), calendar months UTC. clip cuts to 0..1, clip± to −1..1.

Smart band: n ≥ ${smart.min_n}, z > ${Z}, and z > ${S_PM.robust_z} still without the event of the largest Σ(y − e). Score = ${smart.from} + ${smart.span} · clip((z − ${Z}) / ${smart.z_span}). 60 says that the edge is above 0 with 95 % confidence; 100 from z ${Z + smart.z_span}. Of a buyer of favourites whose positions in an event win or lose together it says less, for few of them have lost yet: \`is_significant\` takes that into account.

Dumb band: n ≥ ${dumb.min_n}, z < −${Z}. Score = ${dumb.from} − ${dumb.span} · clip((−z − ${Z}) / ${dumb.z_span}), at most ${dumb.to}: proven to lose, not merely unproven.

Between: all others. Score = ${between.centre} + ${between.reach} · clip±(${between.z} · z/${Z} + ${between.return} · clip±(r/${between.return_full}) + ${between.months} · clip±((p − 0.5)/${between.months_full})). Nothing known is about ${between.centre}.

Caps: n < ${S_PM.unscored_below_n}: not scored; n < ${newcomer.below_n}: at most ${newcomer.at_most} (\`newcomer\`); r < ${trivial_edge.below_return}: at most ${trivial_edge.at_most} (\`trivial_edge\`); z not above ${S_PM.robust_z} without the largest event: at most ${one_hit.at_most} (\`one_hit\`). Wallets tagged ${MACHINE_TAGS.map((tag) => `\`${tag}\``).join(', ')} are not scored: their trading is no judgement.

Tiers: \`elite\` from ${ELITE_SCORE}, \`smart\` from ${SMART_SCORE}, \`average\` from ${AVERAGE_SCORE}, \`novice\` below, \`unscored\` without a score. A wallet is smart from a score of ${SMART_SCORE} on, low-score at ${PM_TAGS.dumb_score} or less. \`score_confidence\`: \`high\` with n ≥ ${confidence.high_n} and z > ${confidence.high_z}, \`medium\` with n ≥ ${confidence.medium_n}, else \`low\`.

\`edge_ci\` is the 90 % interval: the 5th and 95th percentile of ${S_PM.bootstrap.resamples} resamples of events, their distances from the edge longer by t / ${Z}; edge ± t errors where chance is the error or with more than ${S_PM.bootstrap.max_events} events. t is that of Student with G − 1 degrees of freedom which is as unlikely as z = ${Z}; with one event the interval is −1 … 1. \`p_value\`: chance of so large an edge at fair prices, by drawing each event anew with the odds of its prices, at most ${S_PM.randomization.draws} times. \`is_significant\`: z > ${Z} and p_value < ${S_PM.significant_p}. \`explain=true\` shows the parts.`,
  },
  {
    id: 'pm-tags',
    title: 'Wallet tags',
    text: `Told by the daily run, over the wallet's whole life. \`elite\`, \`smart\`: by score. \`dumb\`: score ${PM_TAGS.dumb_score} or less. \`whale\`: a position that cost ${written(PM_TAGS.whale_usdc)} USDC or more. \`specialist\`: ${100 * PM_TAGS.specialist.share} % of its volume in one category, with ${PM_TAGS.specialist.positions} positions there. \`fresh\`: first trade less than ${PM_TAGS.fresh_days} days ago. \`one_hit\`: one event made ${100 * one_hit.event_share} % or more of its net gain. \`contrarian\`: more than half of its entries below 0.5, where another outcome led. \`insider_pattern\`: "Insider pattern" score of ${PM_TAGS.insider_score} or more. \`copy_trader\`: found by "Copying" behind one of the best wallets of the day, over 30 days.

Machines: \`market_maker\`: ${PM_TAGS.market_maker.trades} trades or more, more than one outcome traded in over ${100 * PM_TAGS.market_maker.both_sides_above} % of its markets, and a median holding time below ${PM_TAGS.market_maker.hold_seconds / 3_600} hour. \`hft_bot\`: ${PM_TAGS.hft_bot.trades_a_day} trades or more per active day, or a median gap below ${PM_TAGS.hft_bot.gap_seconds} seconds over ${PM_TAGS.hft_bot.gap_trades} trades. \`wash\`: ${100 * PM_TAGS.wash_share} % or more of its volume of ${WASH_DAYS} days against itself in one transaction, or against one other wallet that trades as much of its own volume with it; trades of two wallets on a token count as such when they are opposite, next to each other and at most ${WASH_SECONDS} seconds apart, ${WASH_MATCHES} times or more.`,
  },
  {
    id: 'pm-flow',
    title: 'Flow',
    text: `buy = Σ BUY USDC, sell = Σ SELL USDC, net = buy − sell, over the window; redemptions are left out. Of a market or a category it is the takers' flow; of smart wallets their own fills, each judged by the score run before its day ("Score runs").

\`flow_trend\` compares the net flow c with that of the previous window, p: \`flat\` when |c − p| is below 5 % of max(|p|, 1); \`reversing_in\` and \`reversing_out\` when the sign changed; \`accelerating_in\` when c > 0 grew and \`decelerating_in\` when it fell; \`accelerating_out\` and \`decelerating_out\` likewise for c < 0.

\`phase\` of smart flow: \`accumulation\` when net / (buy + sell) ≥ ${PHASE_FROM}, \`distribution\` when ≤ −${PHASE_FROM}, else \`neutral\`.`,
  },
  {
    id: 'pm-sentiment',
    title: 'Sentiment',
    text: `Signed flow of takers toward the market's first outcome (normally Yes): pos = BUY of it and SELL of any other, neg = the opposite, in USDC. score = (pos − neg) / (pos + neg), −1 to 1, null without a trade. Labels: \`very_bearish\` below −${LEANS.strong}, \`bearish\` below −${LEANS.plain}, \`neutral\` below ${LEANS.plain}, \`bullish\` below ${LEANS.strong}, \`very_bullish\` from ${LEANS.strong}. \`divergence\` = score of smart wallets' own fills − score. \`momentum.change\` = mean score of the last third of the buckets − that of the first third, buckets without trades left out; \`rising\` above ${NOTICEABLE}, \`falling\` below −${NOTICEABLE}; its \`strength\` is half of the change. All three are null where the first or the last third saw no trade.`,
  },
  {
    id: 'pm-consensus',
    title: 'Consensus',
    text: `What a group of wallets thinks of a market, by what they hold. A wallet on several outcomes counts net: cost of the shares of its largest outcome − cost of the others; without a rest it counts nowhere. Weight of a smart wallet = (score − 50)/50 · net USDC; of a low-score wallet its net USDC. The consensus is on the outcome with the most weight. \`strength\` = its share of all weight, 0-1, null with fewer than ${FEWEST_WALLETS} wallets. So few wallets make no consensus: \`consensus_outcome\` and \`smart_outcome\` are null, while \`smart_money_outcome\` and \`favored_outcome\` tell what they favour, beside how many they are.

A consensus is contrarian when its strength is ${CLEAR_STRENGTH} or more and its outcome is priced below 0.5. On a resolved market none is: its prices are its payouts, which nobody knew.`,
  },
  {
    id: 'pm-independent',
    title: 'Independent wallets',
    text: `Wallets that opened the same outcome within ${TOGETHER_MS / 1_000} seconds of each other (each after the one before) are one cluster: they trade in step, or belong to one owner. \`independent_wallets\` = (Σ weight)² / Σ (weight of a cluster)²: 10 wallets of equal weight in 10 clusters count as 10, in one cluster as 1, and one wallet with nearly all the money as about 1. Where money came from is not on record, so a common funding source is not seen: \`cluster_id\` is null.`,
  },
  {
    id: 'pm-conviction',
    title: 'Conviction',
    text: `\`conviction_score\` = 100 · (${CONVICTION.share} · share of smart USDC that is on the outcome + ${CONVICTION.independent} · min(independent wallets, ${CONVICTION_FULL.independent})/${CONVICTION_FULL.independent} + ${CONVICTION.score} · (mean score − ${CONVICTION_FULL.score_from})/${CONVICTION_FULL.score_span} + ${CONVICTION.bet} · min(b, ${CONVICTION_FULL.bet})/${CONVICTION_FULL.bet}). b = median over its smart wallets of what the wallet paid for this position / the median of what it pays for a position (\`median_bet_share_pct\` = 100 · b). Wallets are smart ones net on the outcome ("Consensus", "Independent wallets").`,
  },
  {
    id: 'pm-smart-signal',
    title: 'Smart signal',
    text: `Per market, from smart wallets' flow in the window. The outcome is the one with the largest Σ (score − 50)/50 · net USDC; where all are sold on balance, the one sold most, with \`signal_direction\` SELL. An outcome that is bought by that weight and sold by plain USDC, or the reverse, has no direction and is passed over. \`signal_score\` = 100 · |net| / (buy + sell) · sqrt(min(independent wallets, ${SIGNAL_WALLETS})/${SIGNAL_WALLETS}), of that outcome. \`signal_strength\`: \`weak\` from ${signalStrength('weak')}, \`moderate\` from ${signalStrength('moderate')}, \`strong\` from ${signalStrength('strong')}; below there is no signal.`,
  },
  {
    id: 'pm-opportunity',
    title: 'Opportunity score',
    text: `Several signals about one outcome, the one of the smart "Consensus", each 0-1. \`price_signal_gap\` = consensus strength − price of the outcome.

\`signal_score\` = ${WEIGHTS.gap} · gap/${FULL_GAP} (0 when negative, at most 1) + ${WEIGHTS.consensus} · consensus strength + ${WEIGHTS.flow} · smart net flow / gross flow of the outcome in the window (0 while they sell) + ${WEIGHTS.dumb} · share of low-score money on other outcomes + ${WEIGHTS.independent} · min(independent wallets, ${ENOUGH_WALLETS})/${ENOUGH_WALLETS} + ${WEIGHTS.time} · nearness of the end (1 up to ${NEAR_HOURS} hours, 0 from ${FAR_HOURS} hours, logarithmic between). \`signal_strength\`: \`weak\` from ${STRENGTHS.weak}, \`moderate\` from ${STRENGTHS.moderate}, \`strong\` from ${STRENGTHS.strong}. \`signal_direction\` is BUY when the gap is 0 or more, else SELL. \`signals.new_smart\` (share of the wallets that opened inside the window) and \`signals.insider_overlap\` (share tagged \`insider_pattern\`) are shown and not scored.`,
  },
  {
    id: 'pm-similarity',
    title: 'Similarity',
    text: `similarity = ${HYBRID.wallets} · cosine of wallets + ${HYBRID.text} · cosine of words + ${HYBRID.category} when the category is the same. A wallet belongs to a market when it traded ${BELONGS_USDC} USDC or more there, or holds (held, once it is resolved) what cost as much; machines are left out. It weighs ln(1 + markets / markets it belongs to), a word of a question ln(1 + questions / questions with it): what is everywhere says little. \`method\` = \`wallets\` or \`text\` uses that cosine alone. \`wallet_overlap_pct\` = 100 · wallets on both / wallets of the market asked for; \`jaccard\` = wallets on both / wallets on either.`,
  },
  {
    id: 'pm-insider',
    title: 'Insider pattern',
    text: `How much a wallet's bets on one market look like those of somebody who knew. A pattern of behaviour, not an accusation. Seven signals, in points:

\`wallet_age\` ${D_INS.wallet_age.points}: full when the first bet on the market is the wallet's first trade, 0 at ${D_INS.wallet_age.days} days, linear. \`first_bet_size\` ${D_INS.first_bet_size.points}: first bet (one transaction) against the median first bet on the market, 0 at 1 time, full at ${D_INS.first_bet_size.multiple} times, logarithmic; 0 below $${written(D_INS.first_bet_size.min_usdc)}. \`bet_timing\` ${D_INS.bet_timing.points}: from the bet to the news, full up to ${D_INS.bet_timing.full_hours} hours, 0 from ${D_INS.bet_timing.none_hours / 24} days, logarithmic; the news is the last fill of the winner below ${D_INS.news_price}, where there is none, as on a refunded market, the resolution, and of an unresolved market its end date; a later bet is 0. \`withdrawal_speed\` ${D_INS.withdrawal_speed.points}: from resolution to the first payout taken, full up to ${D_INS.withdrawal_speed.full_minutes} minutes, 0 from ${D_INS.withdrawal_speed.none_minutes / 60} hours, logarithmic. \`market_selection\` ${D_INS.market_selection.points}: two outcomes on a single fact, full up to $${written(D_INS.market_selection.low_usdc)} of volume, 0 from $${written(D_INS.market_selection.high_usdc)}, logarithmic; 0 for sports, esports and prices of assets, which nobody knows ahead. \`category_concentration\` ${D_INS.category_concentration.points}: "Concentration" (hhi) of the wallet's volume over categories. \`short_bet_win_rate\` ${D_INS.short_bet_win_rate.points}: of positions opened at most ${D_INS.short_bet_win_rate.hours} hours before resolution, sold since or not, lower bound of the share whose outcome won − mean entry price, full at ${D_INS.short_bet_win_rate.full_gap}; needs ${D_INS.short_bet_win_rate.min_bets}.

A signal out of play (withdrawal while unresolved, short bets with too few) gives its weight to the others: score = 100 · points / points in play, at most 100. \`risk_level\`: \`medium\` from ${D_INS.risk.medium}, \`high\` from ${D_INS.risk.high}, \`critical\` from ${D_INS.risk.critical}, else \`low\`. From ${D_INS.risk.high} on the wallet is flagged on the market.

The scan has two phases: wallets that cannot reach the score by their age, the market and their categories are dropped, and trades of at most ${written(MOST_SURVIVORS)} wallets are read. Over the whole venue only wallets not older than ${MOST_AGE_DAYS} days that put $${written(D_INS.first_bet_size.min_usdc)} or more on a market that somebody can know of, mostly in one or two categories, are candidates. Score of a wallet = the highest over its markets + ${D_INS.further_market} for each further flagged market, at most 100. Flags are rare.`,
  },
  {
    id: 'pm-copying',
    title: 'Copying',
    text: `Fills of one transaction of a wallet on one token and side are one trade. A trade of the follower matches one of the leader on the same token and side when it comes later, by at most the allowed lag, and the follower held nothing of the token before the leader's purchase, or some of it before the leader's sale; it takes the newest of them that it has not taken before.

precision = matches / trades of the follower, coverage (\`overlap_pct\` / 100) = matches / trades of the leader, lift = precision / share of all other wallets' fills that fall into the same windows by chance, \`p_value\` = chance of so many matches (binomial tail), regularity = 1 − sample deviation / mean of the lags, cut to 0..1, 0 with one match. \`copy_score\` (0-1) = ${COPY_WEIGHTS.precision} · precision + ${COPY_WEIGHTS.coverage} · coverage + ${COPY_WEIGHTS.lift} · min(lift/${FULL_LIFT}, 1) + ${COPY_WEIGHTS.regularity} · regularity. A copier has ${COPY_SCORE} or more, is no machine ("Wallet tags"), and the leader follows it less than half as often as it follows the leader.`,
  },
  {
    id: 'pm-followable',
    title: 'Followable return',
    text: `What a follower would have made, for a leader's profit is not the follower's. The same purchases and sales at the takers' average price of the ten minutes that begin 60 seconds after each of the wallet's own fills; a fill after which nobody traded cannot be followed. A follower sells no more than it bought; shares left over are worth their payout. \`followable_roi_pct\` = 100 · gain / cost over positions that ended, whole life; \`followable_share\` = fills that could be followed / all fills. Null when nothing could be followed. No fees are taken off.`,
  },
  {
    id: 'pm-missing',
    title: 'What is estimated or missing on the prediction market',
    text: `Fees of fills are not told apart by the venue ("Positions and realized gain" says where they are part of the USDC). Who owns several wallets, and where their money came from, is not on record. A position whose shares came by a transfer has no known cost and is not counted. Prices between trades are the last fill, not the order book. Split and merge prices are last fills. Depth, open orders and markets' texts outside question, outcomes and tags are not used.`,
  },
];
