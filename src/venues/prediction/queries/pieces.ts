import { DAY_MS, HOUR_MS } from '../../../lib/time';
import type { Parameters } from './parameters';
import type { RunSpan } from './score-runs';

export const floorHour = (time: number): number => Math.floor(time / HOUR_MS) * HOUR_MS;
export const ceilHour = (time: number): number => Math.ceil(time / HOUR_MS) * HOUR_MS;

/** A stretch of time that is read exactly to the millisecond: whole hours from rollups, the hours that a bound tears from facts. */
export interface Cut {
  /** Where its parts begin, and the end of the last: part 1 is [0, 1), part 2 is [1, 2). */
  bounds: Date[];
  /** Whole hours lie within. */
  whole: { from: Date; to: Date };
  /** Stretches read from facts; as many as there are bounds, idle ones empty. */
  edges: { from: Date; to: Date }[];
  /** Hours of the first part begin this many milliseconds before whole hours: it is read from facts alone. */
  shift: number | null;
  /** Of the whole hours only these. */
  only?: readonly Date[];
}

const PLANNED_ONCE_MS = 31 * DAY_MS;

/** Whether statements over a cut may be planned once a connection: by a plan for all windows, of a long one what everybody did in it is read. */
export const isPlannedOnce = ({ bounds }: Cut): boolean =>
  (bounds.at(-1) as Date).getTime() - (bounds[0] as Date).getTime() <= PLANNED_ONCE_MS;

/** Cuts time at `bounds`, ascending, two at least. A `shift` that is no whole number of hours has the first part's hours moved. */
export function cutAt(bounds: readonly Date[], shift = 0): Cut {
  const times = bounds.map((bound) => bound.getTime());
  const [first, second, last] = [times[0], times[1], times.at(-1)] as [number, number, number];
  const moved = shift % HOUR_MS !== 0;
  const from = ceilHour(moved ? second : first);
  const torn = [...new Set(times.filter((time) => time % HOUR_MS !== 0).map(floorHour))].filter((hour) => !moved || hour >= from);
  const edges = torn.map((hour) => ({ from: Math.max(hour, first), to: Math.min(hour + HOUR_MS, last) }));
  if (moved) edges.push({ from: first, to: Math.min(from, last) });
  while (edges.length < bounds.length) edges.push({ from: last, to: last });
  const whole = { from: new Date(from), to: new Date(floorHour(last)) };
  return {
    bounds: [...bounds],
    whole,
    edges: edges.map((edge) => ({ from: new Date(edge.from), to: new Date(edge.to) })),
    shift: moved ? shift : null,
  };
}

/** A cut that is read from facts alone. */
export const factsWithin = ({ from, to }: { from: Date; to: Date }): Cut => ({
  bounds: [from, to],
  whole: { from: to, to },
  edges: [
    { from, to },
    { from: to, to },
  ],
  shift: null,
});

/** SQL of where a cut lies. */
export interface Places {
  /** Condition on a rollup's `hour`. */
  rolled: string;
  /** Condition on a fact's `timestamp`. */
  torn: string;
  /** Start of a fact's hour as it is grouped. */
  at: string;
}

const FACT_HOUR = `date_trunc('hour', "timestamp", 'UTC')`;

/** SQL condition on a fact's `timestamp`: it lies in an edge of the cut; `lows` is of where edges begin. */
export function edgesOf(cut: Cut, parameters: Parameters): { torn: string; lows: string } {
  const lows = parameters.add(cut.edges.map((edge) => edge.from), 'timestamptz[]'); // prettier-ignore
  const highs = parameters.add(cut.edges.map((edge) => edge.to), 'timestamptz[]'); // prettier-ignore
  const edges = cut.edges.map((_, index) => `("timestamp" >= (${lows})[${index + 1}] AND "timestamp" < (${highs})[${index + 1}])`);
  return { torn: `(${edges.join(' OR ')})`, lows };
}

/** The places of a cut, its values taken by `parameters`. */
export function placesOf(cut: Cut, parameters: Parameters): Places {
  const [from, to] = [parameters.add(cut.whole.from, 'timestamptz'), parameters.add(cut.whole.to, 'timestamptz')];
  const { torn, lows } = edgesOf(cut, parameters);
  const only = cut.only === undefined ? '' : ` AND hour = ANY (${parameters.add(cut.only, 'timestamptz[]')})`;
  const places = { rolled: `hour >= ${from} AND hour < ${to} AND hour <> ALL (${lows})${only}`, torn };
  if (cut.shift === null) return { ...places, at: FACT_HOUR };
  const [shift, second] = [parameters.add(`${cut.shift} milliseconds`, 'interval'), parameters.add(cut.bounds[1], 'timestamptz')];
  return {
    ...places,
    at: `CASE WHEN "timestamp" < ${second} THEN date_trunc('hour', "timestamp" + ${shift}, 'UTC') - ${shift} ELSE ${FACT_HOUR} END`,
  };
}

/** SQL of which part of a cut an instant lies in. */
export function partOf(cut: { bounds: readonly Date[] }, parameters: Parameters): (instant: string) => string {
  const bounds = parameters.add(cut.bounds, 'timestamptz[]');
  return (instant) => `width_bucket(${instant}, ${bounds})`;
}

/**
 * SQL of outcome tokens' hours within a cut: condition_id, token_id, at (start of the hour, moved by the cut's shift), part, fills, fill_usdc, fill_shares, and of
 * takers buys, sells, buy_usdc, sell_usdc, shares. `filter` is a condition on condition_id or token_id, `torn_filter` the same where facts are better asked in another way. A torn hour
 * gives a row for each part.
 */
export function tokenPieces(cut: Cut, parameters: Parameters, filter: string, torn_filter = filter): string {
  const { rolled, torn, at } = placesOf(cut, parameters);
  const part = partOf(cut, parameters);
  return `SELECT condition_id, token_id, hour::timestamptz AS at, ${part('hour::timestamptz')} AS part, fills, fill_usdc, fill_shares, buys, sells, buy_usdc, sell_usdc, shares
FROM pm_token_hour WHERE ${rolled} AND ${filter}
UNION ALL
SELECT condition_id, token_id, ${at}, ${part('"timestamp"')}, count(*)::int, sum(usdc_size), sum(size),
  (count(*) FILTER (WHERE is_taker AND side = 'BUY'))::int, (count(*) FILTER (WHERE is_taker AND side = 'SELL'))::int,
  COALESCE(sum(usdc_size) FILTER (WHERE is_taker AND side = 'BUY'), 0), COALESCE(sum(usdc_size) FILTER (WHERE is_taker AND side = 'SELL'), 0), COALESCE(sum(size) FILTER (WHERE is_taker), 0)
FROM pm_trade WHERE ${torn} AND side IN ('BUY', 'SELL') AND ${torn_filter} GROUP BY 1, 2, 3, 4`;
}

/**
 * SQL condition on pm_token_hour: of this market, a value's place. Its outcomes are told as well: an hour comes last in the key, and without them the planner thinks that
 * to skip from one to the next costs more than to read the hours of all markets, where these lie in the order of time.
 */
export const hoursOfMarket = (condition_id: string): string =>
  `condition_id = ${condition_id} AND token_id = ANY (ARRAY(SELECT token_id FROM pm_token_last WHERE condition_id = ${condition_id}))`;

const of = (value: string, side: string): string => `COALESCE(sum(${value}) FILTER (WHERE side = '${side}'), 0)`;
const number = (side: string, more = ''): string => `(count(*) FILTER (WHERE side = '${side}'${more}))::int`;

/** SQL of what fills of one wallet come to, in the columns of walletPieces. */
export const OWN_SUMS = `${number('BUY')} AS buys, ${number('SELL')} AS sells, ${number('BUY', ' AND is_taker')} AS taker_buys, ${number('SELL', ' AND is_taker')} AS taker_sells,
  ${of('usdc_size', 'BUY')} AS buy_usdc, ${of('usdc_size', 'SELL')} AS sell_usdc, ${of('size', 'BUY')} AS buy_shares, ${of('size', 'SELL')} AS sell_shares,
  COALESCE(sum(usdc_size) FILTER (WHERE is_taker), 0) AS taker_usdc, min("timestamp") AS first_at, max("timestamp") AS last_at, min("timestamp") FILTER (WHERE side = 'BUY') AS first_buy_at`;

/**
 * SQL of wallets' own fills by hour within a cut: condition_id, token_id, wallet, hour, at (the hour moved by the cut's shift), part, buys, sells, taker_buys,
 * taker_sells, buy_usdc, sell_usdc, buy_shares, sell_shares, taker_usdc, first_at, last_at, first_buy_at. `filter` is a condition on condition_id, token_id or wallet; `torn_filter`
 * is the same where it is better asked of facts in another way.
 */
export function walletPieces(cut: Cut, parameters: Parameters, filter = 'true', torn_filter = filter): string {
  const { rolled, torn, at } = placesOf(cut, parameters);
  const part = partOf(cut, parameters);
  return `SELECT condition_id, token_id, wallet, hour::timestamptz AS hour, hour::timestamptz AS at, ${part('hour::timestamptz')} AS part, buys, sells, taker_buys, taker_sells,
  buy_usdc, sell_usdc, buy_shares, sell_shares, taker_usdc, first_at, last_at, first_buy_at
FROM pm_wallet_hour WHERE ${rolled} AND token_id <> '' AND ${filter}
UNION ALL
SELECT condition_id, token_id, wallet, ${FACT_HOUR}, ${at}, ${part('"timestamp"')}, ${OWN_SUMS}
FROM pm_trade WHERE ${torn} AND side IN ('BUY', 'SELL') AND ${torn_filter} GROUP BY 1, 2, 3, 4, 5, 6`;
}

/** Whose fills count as smart: wallets with at least this score in the run that judges their hour. */
export interface SmartRule {
  spans: readonly RunSpan[];
  min_score: number;
}

/**
 * SQL of the walletPieces of smart wallets, each with the score it is judged by. With `markets` (a select of condition ids) only theirs, hours found by market however
 * long the cut is: both conditions stand in the index then. Facts of torn hours are found by time, as truth values both are hashed.
 */
export function smartPieces(cut: Cut, rule: SmartRule, parameters: Parameters, filter = 'true', markets: string | null = null): string {
  const days = parameters.add(rule.spans.map((span) => span.day), 'date[]'); // prettier-ignore
  const starts = parameters.add(rule.spans.map((span) => span.from), 'timestamptz[]'); // prettier-ignore
  const score = parameters.add(rule.min_score, 'numeric');
  // The first condition lets a rare wallet's hours be found by wallet; the second says which of them count.
  const wallets = `SELECT wallet FROM pm_wallet_score WHERE day = ANY (${days}) AND score >= ${score}`;
  const pieces =
    markets === null
      ? walletPieces(cut, parameters, `wallet IN (${wallets}) AND ${filter}`)
      : walletPieces(
          cut,
          parameters,
          `condition_id = ANY (ARRAY(${markets})) AND wallet = ANY (ARRAY(${wallets})) AND ${filter}`,
          `(condition_id IN (${markets})) IS TRUE AND (wallet IN (${wallets})) IS TRUE AND ${filter}`,
        );
  return `SELECT piece.*, judged.score FROM (${pieces}) AS piece
JOIN pm_wallet_score AS judged ON judged.day = (${days})[width_bucket(piece.hour, ${starts})] AND judged.wallet = piece.wallet AND judged.score >= ${score}`;
}
