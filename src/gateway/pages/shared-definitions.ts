import { type Definition, written } from '../../lib/definition';
import { MOST_BUCKETS, MOST_CELLS } from '../../lib/grid';
import { SPIKE } from '../../lib/spike';
import { Z_90 } from '../../lib/statistics';
import { isoDay } from '../../lib/time';
import { BEGINNING, TIMEFRAMES } from '../../lib/timeframe';
import { FEED_LAG_LIMIT_S, SCORE_AGE_LIMIT_S } from '../stale';

/** What figures of all venues have in common. */
export const SHARED_DEFINITIONS: readonly Definition[] = [
  {
    id: 'windows',
    title: 'Windows',
    text: `A timeframe is a window of event time that ends now: [now − length, now). Its start belongs to it, its end does not. Now is read once for an answer (\`meta.as_of\`), so all its parts agree; \`meta.window\` tells both ends. Tokens: ${TIMEFRAMES.map((token) => `\`${token}\``).join(', ')}; \`1d\` is \`24h\`, \`1y\` is \`365d\`. \`today\` begins at 00:00 UTC. \`all\` begins at ${isoDay(BEGINNING)}, before the first record.

The previous window is the one of equal length just before: [now − 2 · length, now − length). \`all\` has none: figures that compare with it are null. Where records begin within it, what it came to is not known either; what tells its amounts beside (markets/volume-by-group, markets/capital-flow and its comparison) tells those on record. A change in percent is 100 · (current − previous) / previous, null where the previous figure is 0 or unknown.

Windows are exact to the second; nothing is rounded to hours or days. \`days\` = N (perpetual futures) means the N UTC days that end today, today counted up to now.`,
  },
  {
    id: 'buckets',
    title: 'Buckets',
    text: `Time series are cut at UTC multiples of the bucket's length, counted from 1970-01-01T00:00:00Z: four-hour buckets begin at 00, 04, 08 … UTC, days at 00:00 UTC, seven-day buckets on Thursdays. A bucket is named by its start. The first and the last one may be partial: they are clipped to the window. With \`all\` the series begins at the first record in question.

\`auto\` is one hour for windows up to a day, four hours up to a week, one day beyond. At most ${written(MOST_BUCKETS)} buckets, and ${written(MOST_CELLS)} cells of rows and buckets, are sent; more is refused with the smallest bucket that fits.`,
  },
  {
    id: 'money',
    title: 'Money and rounding',
    text: `One USDC counts as one US dollar. Amounts are added up exactly and rounded to 6 decimals when they are sent; quantities (shares, coins, tokens) and coin prices are not rounded. Names that end in \`_pct\` or \`_percent\`, and \`percentage\`, are 0-100; changes, and one amount set against another, may exceed it. Shares of a total, win rates, strengths and prices of outcomes are 0-1. A ratio a/b is null where b is 0. Scores are 0-100 in tenths.`,
  },
  {
    id: 'nulls',
    title: 'Null, zero and empty',
    text: `Null means unknown or not defined: a field is never left out, and never 0 in place of unknown. 0 means that the figure is known to be 0. Lists inside an answer are \`[]\` where there is nothing.

An answer without any row is \`404 empty_result\`, one about an unknown market, wallet, coin or pool \`404 not_found\`. Neither is charged. \`suggestion\` in its body holds what to ask instead, where something is left: a wider window or looser filters. They reach further, but may find nothing either.`,
  },
  {
    id: 'matches',
    title: 'Match counting',
    text: `A trade has two sides, and both are on record. Volume and number of trades of a market, a coin or a venue count each match once. Buys against sells of a market count the taker only, the side that crossed the book: with both sides counted buys would always equal sells. Figures of one account, and of smart accounts as a group, count that account's own fills, as maker or taker.`,
  },
  {
    id: 'win-rate',
    title: 'Win rate',
    text: `\`win_rate\` = wins / all that ended. What ends is a position on the prediction market, a round trip on perpetual futures, a closed position in pools; a win is a gain above 0.

\`win_rate_lb\` is the lower bound of Wilson's score interval: with p = wins / n and z = ${Z_90} (90 % two-sided, 95 % one-sided), (p + z²/2n − z · sqrt(p(1 − p)/n + z²/4n²)) / (1 + z²/n). Three of three wins are 0.53, 60 of 80 are 0.66. Rankings by win rate use the bound, so that few wins in a row do not lead. Null without any. Every "90 %" interval and lower bound here uses the same z.`,
  },
  {
    id: 'ranking',
    title: 'Ranking and ties',
    text: `Rows are ordered by the figure that \`sort_by\` (or \`metric\`) names, largest first unless said otherwise; rows without it come last. Ties go by the second figure the endpoint names, then by id ascending, so that the same data always gives the same order. \`limit\` cuts the ordered list; totals and percentages of a total also count the rows that were cut.`,
  },
  {
    id: 'volume-spike',
    title: 'Volume spike',
    text: `Spike = (V + ${written(SPIKE.usd)}) / (mean of earlier windows + ${written(SPIKE.usd)}), in dollars. V is the volume of the window; the earlier windows are the ${SPIKE.windows} of equal length before it. Those that ended before the first record of the market, coin or pool are left out of the mean; with fewer than ${SPIKE.fewest} the spike is null. The ${written(SPIKE.usd)} on both sides keep small change from looking like a spike. 1 is the usual volume, 3 about three times as much.`,
  },
  {
    id: 'heat-map',
    title: 'Heat map',
    text: `A grid of rows (markets, categories, coins, pools, actions) and buckets of time. \`pct_of_total\` = 100 · volume of the row / volume of all rows; \`pct_of_bucket\` the same within one bucket. Both are of all rows in scope, also those that \`limit\` cuts off.

\`trend\`: \`rising\` above +5 % against the previous window, \`falling\` below −5 %, \`flat\` between; something after nothing rises; null where there is no previous window.`,
  },
  {
    id: 'concentration',
    title: 'Concentration',
    text: `\`hhi\` (Herfindahl-Hirschman index) = Σ share², where shares add up to 1: 1 when one holds everything, 1/n when n hold the same. \`gini\` = Σ|xᵢ − xⱼ| over all pairs / (2 n² · mean), 0 when all hold the same, (n − 1)/n when one holds everything. Both are of amounts above 0 in scope.`,
  },
  {
    id: 'score-runs',
    title: 'Score runs',
    text: `Wallets, traders and providers are scored once a UTC day from all records before the run. Every run is kept with its version; \`meta.score_version\` names the formula an answer rests on. Null means not scored. An answer of the past is answered with the scores of that time, never with later ones.

Flows of smart wallets on the prediction market, and events of smart providers in pools, are judged by the newest run of a day before each act, so that a wallet which became smart because of a bet is not counted as smart for it; acts before the first run are judged by the first (prediction market) or not at all (pools). All else is judged by the newest run: what is held now, lists of fills and of wallets, totals of the prediction market, and everything on perpetual futures.`,
  },
  {
    id: 'freshness',
    title: 'Freshness',
    text: `\`meta.freshness_s\` is now less the time up to which the sources had been read for the answer, whether or not anything happened. Answers may come from a cache for as long as the endpoint says, or until the venue is scored anew. Some are rebuilt in the background every five to ten minutes and tell the instant they are as of in \`meta.as_of\`; when a rebuild fails the last good one is served for up to 30 minutes, from 15 on with a warning.

What is too old is not sold: an older snapshot, a live source that has not been read for ${FEED_LAG_LIMIT_S / 60} minutes, and scores older than ${SCORE_AGE_LIMIT_S / 3_600} hours answer \`503 stale_data\`, which is not charged.`,
  },
  {
    id: 'track-record',
    title: 'Track record',
    text: `Signal endpoints tell in \`meta.track_record\` how their earlier answers turned out. Once a UTC day, after the daily scores, each of them is asked with its default parameters and its greatest limit, and every signal is stored with the price of that moment. Only markets that are still open and prices at which something can be bought count.

A signal on an outcome is judged when its market is resolved or refunded (horizon \`resolution\`), one on a coin after 1, 24 and 168 hours. A hit is a gain of who followed: bought the outcome at its price, or its counterpart at one less that price; on a coin, a price that moved the signal's way. \`mean_return_pct\` is the mean of 100 · (payout − price) / price, on a coin of the change of the price in the signal's direction, in percent. Fees are not taken off. Where a market's result changes, or fills of a coin come late, it is judged anew.

\`baseline_hit_rate\` is the rate of hits that prices implied: the mean price paid for outcomes, 0.5 for coins. Hits of 90 % at prices of 0.9 are no edge. \`hit_rate_lb\` is the lower bound of "Win rate". Low-score consensus is judged as advice against it; \`wallets/insiders\` by the outcomes of its \`flagged_markets\`, \`markets/insiders\`, which is asked of one market, by what the newest scan of the whole venue finds from its default \`min_score\` on; early callers by what they hold in open markets. All signals count, none is dropped. Days before the first start may be told afterwards, each from what was known when it began; \`backdated\` counts their signals.`,
  },
];
