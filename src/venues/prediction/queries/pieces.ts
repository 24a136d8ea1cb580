import type { Parameters } from './parameters';
import { type RunSpan, spanRows } from './score-runs';

const HOUR_MS = 3_600_000;

const floorHour = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;

/** A stretch of time that is read exactly to the millisecond: whole hours from rollups, the hours that a bound cuts from facts. */
export interface Cut {
  /** Where its parts begin, and the end of the last: part 1 is [0, 1), part 2 is [1, 2). */
  bounds: Date[];
  /** Whole hours lie within. */
  whole: { from: Date; to: Date };
  /** Stretches read from facts; as many as there are bounds, idle ones empty. */
  edges: { from: Date; to: Date }[];
}

/** Cuts time at `bounds`, ascending, two at least. With `facts`, that part is read from facts alone. */
export function cutAt(bounds: readonly Date[], facts?: { from: Date; to: Date }): Cut {
  const times = bounds.map((bound) => bound.getTime());
  const [first, last] = [times[0] as number, times.at(-1) as number];
  const torn = [...new Set(times.filter((time) => time % HOUR_MS !== 0).map(floorHour))];
  const edges = torn.map((hour) => ({ from: new Date(Math.max(hour, first)), to: new Date(Math.min(hour + HOUR_MS, last)) }));
  while (edges.length < bounds.length) edges.push({ from: new Date(last), to: new Date(last) });
  if (facts !== undefined) return { bounds: [...bounds], whole: { from: new Date(floorHour(facts.to.getTime() + HOUR_MS - 1)), to: new Date(floorHour(last)) }, edges: withFacts(edges, facts) };
  return { bounds: [...bounds], whole: { from: new Date(floorHour(first + HOUR_MS - 1)), to: new Date(floorHour(last)) }, edges };
}

/** The edges outside `facts`, and `facts` itself to the end of the hour it tears. */
function withFacts(edges: Cut['edges'], facts: { from: Date; to: Date }): Cut['edges'] {
  const end = new Date(floorHour(facts.to.getTime() + HOUR_MS - 1));
  const others = edges.filter((edge) => edge.from >= end && edge.from < edge.to);
  const padded = [{ from: facts.from, to: end }, ...others];
  while (padded.length < edges.length) padded.push({ from: end, to: end });
  return padded;
}

interface Places {
  bounds: string;
  rolled: string;
  torn: string;
}

/** Conditions on `hour` of a rollup and on `timestamp` of a fact. */
function placesOf(cut: Cut, parameters: Parameters): Places {
  const bounds = parameters.add(cut.bounds, 'timestamptz[]');
  const [from, to] = [parameters.add(cut.whole.from, 'timestamptz'), parameters.add(cut.whole.to, 'timestamptz')];
  const lows = parameters.add(cut.edges.map((edge) => edge.from), 'timestamptz[]'); // prettier-ignore
  const highs = parameters.add(cut.edges.map((edge) => edge.to), 'timestamptz[]'); // prettier-ignore
  const edges = cut.edges.map((_, index) => `("timestamp" >= (${lows})[${index + 1}] AND "timestamp" < (${highs})[${index + 1}])`);
  return { bounds, rolled: `hour >= ${from} AND hour < ${to} AND hour <> ALL (${lows})`, torn: `(${edges.join(' OR ')})` };
}

const FACT_HOUR = `date_trunc('hour', "timestamp", 'UTC')`;

/**
 * SQL of outcome tokens' hours within a cut: condition_id, token_id, at (start of the hour), part, fills, fill_usdc, fill_shares, buys, sells, buy_usdc, sell_usdc,
 * shares (takers' all from buys on). `filter` is a condition on condition_id or token_id. A torn hour gives a row for each part.
 */
export function tokenPieces(cut: Cut, parameters: Parameters, filter = 'true'): string {
  const { bounds, rolled, torn } = placesOf(cut, parameters);
  return `SELECT condition_id, token_id, hour::timestamptz AS at, width_bucket(hour::timestamptz, ${bounds}) AS part, fills, fill_usdc, fill_shares, buys, sells, buy_usdc, sell_usdc, shares
FROM pm_token_hour WHERE ${rolled} AND ${filter}
UNION ALL
SELECT condition_id, token_id, ${FACT_HOUR}, width_bucket("timestamp", ${bounds}) AS part, count(*)::int, sum(usdc_size), sum(size),
  (count(*) FILTER (WHERE is_taker AND side = 'BUY'))::int, (count(*) FILTER (WHERE is_taker AND side = 'SELL'))::int,
  COALESCE(sum(usdc_size) FILTER (WHERE is_taker AND side = 'BUY'), 0), COALESCE(sum(usdc_size) FILTER (WHERE is_taker AND side = 'SELL'), 0), COALESCE(sum(size) FILTER (WHERE is_taker), 0)
FROM pm_trade WHERE ${torn} AND side IN ('BUY', 'SELL') AND ${filter} GROUP BY 1, 2, 3, 4`;
}

/**
 * SQL of wallets' own fills by hour within a cut: condition_id, token_id, wallet, at, part, buys, sells, taker_buys, taker_sells, buy_usdc, sell_usdc, buy_shares,
 * sell_shares, taker_usdc, first_at, last_at, first_buy_at. `filter` is a condition on condition_id, token_id or wallet.
 */
export function walletPieces(cut: Cut, parameters: Parameters, filter = 'true'): string {
  const { bounds, rolled, torn } = placesOf(cut, parameters);
  const of = (value: string, side: string): string => `COALESCE(sum(${value}) FILTER (WHERE side = '${side}'), 0)`;
  const number = (side: string, more = ''): string => `(count(*) FILTER (WHERE side = '${side}'${more}))::int`;
  return `SELECT condition_id, token_id, wallet, hour::timestamptz AS at, width_bucket(hour::timestamptz, ${bounds}) AS part, buys, sells, taker_buys, taker_sells, buy_usdc, sell_usdc,
  buy_shares, sell_shares, taker_usdc, first_at, last_at, first_buy_at
FROM pm_wallet_hour WHERE ${rolled} AND token_id <> '' AND ${filter}
UNION ALL
SELECT condition_id, token_id, wallet, ${FACT_HOUR}, width_bucket("timestamp", ${bounds}) AS part, ${number('BUY')}, ${number('SELL')}, ${number('BUY', ' AND is_taker')}, ${number('SELL', ' AND is_taker')},
  ${of('usdc_size', 'BUY')}, ${of('usdc_size', 'SELL')}, ${of('size', 'BUY')}, ${of('size', 'SELL')}, COALESCE(sum(usdc_size) FILTER (WHERE is_taker), 0),
  min("timestamp"), max("timestamp"), min("timestamp") FILTER (WHERE side = 'BUY')
FROM pm_trade WHERE ${torn} AND side IN ('BUY', 'SELL') AND ${filter} GROUP BY 1, 2, 3, 4, 5`;
}

/** Whose fills count as smart: wallets with at least this score in the run that judges their hour. */
export interface SmartRule {
  spans: readonly RunSpan[];
  min_score: number;
}

/** walletPieces of smart wallets only, each with the score it is judged by. */
export function smartPieces(cut: Cut, rule: SmartRule, parameters: Parameters, filter = 'true'): string {
  const runs = spanRows(rule.spans, parameters);
  const score = parameters.add(rule.min_score, 'numeric');
  const days = parameters.add(rule.spans.map((span) => span.day), 'date[]'); // prettier-ignore
  const smart = `wallet IN (SELECT wallet FROM pm_wallet_score WHERE day = ANY (${days}) AND score >= ${score})`;
  return `SELECT piece.*, judged.score FROM (${walletPieces(cut, parameters, `${smart} AND ${filter}`)}) AS piece
JOIN ${runs} ON piece.at >= run.since - interval '1 hour' AND piece.at < run.until AND date_trunc('hour', run.since, 'UTC') <= piece.at
JOIN pm_wallet_score AS judged ON judged.day = run.day AND judged.wallet = piece.wallet AND judged.score >= ${score}`;
}
