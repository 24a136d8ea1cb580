import { type Definition, written } from '../../lib/definition';
import { MINUTE_MS } from '../../lib/time';
import { LEAN } from './queries/dca-pressure';
import { LAUNCH_FEE, MOST_FEE_PCT } from './queries/fee-rate';
import { LEAST_SOL, LEAST_USD } from './rollups/valuation';
import { S_LP, SMART_SCORE } from './scoring/formula';
import { EARLIER_DAYS } from './scoring/job';
import { LP_TAGS } from './scoring/tags';
import { HELD_USD, POOLS_PACES } from './sources/live-pools';

/** How the figures of liquidity pools are computed. */
export const methodology: readonly Definition[] = [
  {
    id: 'lp-prices',
    title: 'USD values in pools',
    text: `Every event is valued at the prices of its time. The upstream's own USD wins where it states one (0 of something is its word for none). Else the price of a token is the last one known at or before the event, at most an hour old, best source first: USD stated with other events; swaps and active bins of pools against USDC or USDT (1 dollar each); the same against SOL; the catalogue. What comes to less than $${LEAST_USD}, or to less than ${LEAST_SOL} SOL in the pool, tells no price; of a minute the largest does. An event without a price has \`usd_total\` null, is counted and listed, and is left out of sums; a warning tells how many.`,
  },
  {
    id: 'lp-volume',
    title: 'Pool and provider volume',
    text: `Two kinds, never added. Swap volume is what traders swapped (the leg paid in, in USD): volume of pools. For each hour it is the figure the venue states, else the sum of the swaps seen in it; a stated hour cannot be cut and counts in the window it begins in, from when it is stated on; \`swaps: sampled\` or \`none\` in the warnings tells whether single swaps are on record. Null where neither is known, in buckets before the first stated hour and after the last too, and before the first swap seen in any pool.

Provider volume = deposits + withdrawals in USD: volume of providers and of the platform. Claims of fees and farm rewards are not in it. Traders who swap are no providers: they count neither in \`unique_lps\` nor as events of an owner.

A rebalance is a withdrawal, a deposit and a claim in one transaction. Its legs count in volume and are listed, and net out of what was deposited and withdrawn.`,
  },
  {
    id: 'lp-liquidity',
    title: 'Liquidity',
    text: `\`liquidity_usd\` is marked: the pool's reserves at prices of now, or the catalogue's figure, whichever is newer. \`net_liquidity_usd\` = Σ deposits − Σ withdrawals since the pool began, each at its own time: not a market value.

Live, the catalogue is read every ${POOLS_PACES.held_every_ms / MINUTE_MS} minutes of pools that hold more than $${written(HELD_USD)}, every ${POOLS_PACES.whole_every_ms / MINUTE_MS} minutes of all: \`liquidity_usd\` of the others (of one emptied since as well), and prices that only they list, are up to ${POOLS_PACES.whole_every_ms / MINUTE_MS} minutes old.`,
  },
  {
    id: 'lp-fees',
    title: 'Fees and fee rate',
    text: `\`fees_usd\`, \`total_fees_usd\` are fees that swaps generated for providers (without the protocol's part); \`fees_claimed\` and \`claims\` are what providers took out, which may be weeks of fees at once. \`fee_rate_pct\` = 100 · generated fees / swap volume, null when either is unknown. \`fee_tvl_ratio_pct\` = 100 · generated fees / mean liquidity of the window / days of the pool's life in it (with \`all\` since its first record), none of them before the first swap on record of any pool.

\`fee_rate_flag\`: \`implausible\` above what the program allows (${MOST_FEE_PCT.dlmm} % in dlmm, ${MOST_FEE_PCT.damm_v2} % in damm_v2 pools); \`launch_fee_schedule\` above ${LAUNCH_FEE.above_pct} % in a damm_v2 pool younger than ${LAUNCH_FEE.hours} hours, where a high fee against snipers falls by itself; else null. \`fee_rate_adjusted_pct\` is the rate without the first 24 hours of the pool. The launch flag and the adjusted rate need the pool's creation time; the first event seen is not taken for it.`,
  },
  {
    id: 'lp-positions',
    title: 'Positions of providers',
    text: `A position is open when its deposits were seen and it was neither closed on chain after the last of them nor emptied: all token amounts deposited were withdrawn again, the last of them not before the last deposit. \`net_value_usd\` = deposited − withdrawn, each at its own time: not a market value, and negative after a price rise and a partial withdrawal. What a position is worth now, fees not claimed yet, and whether the price is in range cannot be told from events: \`current_value_usd\`, \`unclaimed_fees_usd\`, \`pnl_usd\`, \`il_usd\`, \`in_range\` of open positions are null.

The owner of a dlmm position is who created it; a damm_v2 position can move without an event and belongs to the owner of its newest one, once it is closed to the owner at the close. damm_v2 positions have no address in answers; all positions of an owner in a pool can be asked for together. What one of them hands over to another is listed as a withdrawal and a deposit without amounts, which the chain does not tell: what either came to is unknown.`,
  },
  {
    id: 'lp-pnl',
    title: 'Provider PnL and impermanent loss',
    text: `Of closed positions whose opening, deposits and prices are all known, those of claims too: PnL = withdrawn + fees claimed − deposited, each at its own time. The opening of a position is not known when its first event on record is no deposit, or when more liquidity came out of it than is on record to have gone in: it was opened before. \`realized_pnl_pct\` = 100 · PnL / deposited of the same positions. A win is a PnL above 0.

\`hodl_value_usd\` = the deposited token amounts at the prices of the close; \`il_usd\` = the withdrawn amounts at the same prices − that: what providing cost or gained against holding, without fees. Null when the opening, an amount or a price is unknown.`,
  },
  {
    id: 'lp-score',
    title: 'Provider score',
    text: `0-100, over all closed positions of the owner's life with a known PnL; n of them. Version \`${S_LP.version}\`. Null below ${S_LP.unscored_below_n}.

score = ${S_LP.win.span} · lower bound of the win rate + ${S_LP.size.span} · log10(1 + deposited USD)/${Math.log10(S_LP.size.full)} + ${S_LP.return.span} · (m + ${S_LP.return.shift})/${S_LP.return.range} + ${S_LP.experience.span} · log10(1 + n)/${Math.log10(S_LP.experience.full)}, each fraction cut to 0..1. m = mean of 100 · PnL / deposited over positions, each cut to −${S_LP.return.pnl_pct} … ${S_LP.return.pnl_pct}.

A provider is smart from ${SMART_SCORE} on, \`elite\` from ${LP_TAGS.elite_score}. An event is smart when the newest run before its day gave its owner ${SMART_SCORE} or more. Where scoring begins, the ${EARLIER_DAYS} days before are scored too, each as of its end, by positions that were closed by then and to which nothing happened since. \`explain=true\` shows the parts.`,
  },
  {
    id: 'lp-tags',
    title: 'Provider tags',
    text: `\`elite\`, \`smart\`: by score. \`whale\`: a position with deposits of $${written(LP_TAGS.whale_usd)} or more. \`fresh\`: first event less than ${LP_TAGS.fresh_days} days ago. \`single_sided\`: ${100 * LP_TAGS.single_sided_share} % or more of its deposits brought one token only. \`sniper\`: ${100 * LP_TAGS.sniper_share} % or more of its deposits went into pools younger than an hour.`,
  },
  {
    id: 'lp-dca',
    title: 'Recurring-order pressure',
    text: `What open recurring orders (DCA) will buy and sell: the window lies ahead, [now, now + length); \`all\` is everything left. Every cycle that is due in it counts with the order's amount, up to what is left of the order, at the price now of the token it pays with. The next cycle is one frequency after the last one; cycles that were missed do not come back. An order is a purchase of one token and a sale of the other.

\`net_pressure\` = buys − sells in USD; \`score\` = 100 · net / (buys + sells), −100 to 100, null when nothing is due or priced. \`label\`: \`accumulation\` from ${LEAN}, \`distribution\` from −${LEAN} down, else \`neutral\`. \`pct_of_volume\` = 100 · (buys + sells) / swap volume of the token's pools over the equal window before now. Orders whose opening was not seen are left out.`,
  },
  {
    id: 'lp-operator',
    title: 'Operator share',
    text: `The part of deposits, withdrawals and claims whose transaction was paid by, or ran through a program of, the operator of this service (accounts set by configuration). Only events whose transaction was read count, in the operator's part and in the whole; a warning tells how many were not.`,
  },
  {
    id: 'lp-missing',
    title: 'What is estimated or missing in pools',
    text: `Single swaps of busy pools are not all read: volume is then what the venue states by the hour. Liquidity of the past is what was seen hour by hour. Bins of positions, unclaimed fees and market values of open positions are not on record. Farm rewards are kept but not part of PnL, fees or volume. Recurring orders are read from chain events of the classic program only.`,
  },
];
