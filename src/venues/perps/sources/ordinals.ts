import type { PoolClient } from 'pg';
import { groupedBy } from '../../../lib/grouped';
import { type Link, isChain } from './chain';
import { spanOf } from './copied';
import { type OrderedFill, keyOf } from './fill';

/** A fill that is in the store, as far as its place depends on it. */
interface Kept extends Link {
  coin: string;
  trader: string;
  tid: string;
  oid: string;
  time: number;
  seq: number;
}

const instant = (value: string): string => `to_timestamp(0) + ${value}::bigint * interval '1 millisecond'`;

// $1, $2: accounts and instants; $3, $4: the first and the last of these.
const KEPT = {
  name: 'perps_kept_beside',
  text: `
SELECT f.coin, f.trader, f.tid::text, f.oid::text, (extract(epoch FROM f.timestamp) * 1000)::float8 AS time, f.seq, f.start_position::float8 AS start,
  (CASE WHEN f.is_buy THEN f.size ELSE -f.size END)::float8 AS delta
FROM unnest($1::text[], $2::bigint[]) AS told(trader, time) JOIN perp_fill f ON f.trader = told.trader AND f.timestamp = ${instant('told.time')}
WHERE f.timestamp >= ${instant('$3')} AND f.timestamp <= ${instant('$4')} ORDER BY f.seq`,
};

/**
 * Pages may be cut within a millisecond, or tell one again that another has cut: of an account that has fills of an instant of `fills` in the store, new ones are
 * placed beside those. Places of `fills` are changed in place.
 */
export async function continueOrdinals(client: PoolClient, fills: readonly OrderedFill[]): Promise<void> {
  const [first, last] = spanOf(fills);
  const told = groupedBy(fills, placeOf);
  const places = [...told.values()].map(([fill]) => fill as OrderedFill);
  const { rows } = await client.query<Kept>({
    ...KEPT,
    values: [places.map(({ trader }) => trader), places.map(({ time }) => time), first, last],
  });
  const known = new Set(rows.map(keyOf));
  for (const [place, kept] of groupedBy(rows, placeOf))
    placeBeside(told.get(place) ?? [], known, kept, last > first && kept[0]?.time === last);
}

const placeOf = ({ trader, time }: Pick<Kept, 'trader' | 'time'>): string => `${trader}|${time}`;

/**
 * New ones that the page tells before a known one come before all that are kept of their account and instant, those it tells after one behind them. Where it
 * tells none that is known, positions say, else which end of the page they are at.
 */
function placeBeside(told: readonly OrderedFill[], known: ReadonlySet<string>, kept: readonly Kept[], before: boolean): void {
  const fresh = told.filter((fill) => !known.has(keyOf(fill)));
  const again = told.filter((fill) => known.has(keyOf(fill))).map(({ seq }) => seq);
  const parts =
    again.length > 0
      ? partBy(fresh, ({ seq }) => seq < Math.min(...again))
      : (goesBefore(fresh, kept) ?? before)
        ? [fresh, []]
        : [[], fresh];
  const [ahead, behind] = parts as [OrderedFill[], OrderedFill[]];
  const places = kept.map(({ seq }) => seq);
  move(ahead, Math.min(...places) - 1 - Math.max(...ahead.map(({ seq }) => seq)));
  move(behind, Math.max(...places) + 1 - Math.min(...behind.map(({ seq }) => seq)));
}

const partBy = <One>(all: readonly One[], isFirst: (one: One) => boolean): [One[], One[]] => [
  all.filter(isFirst),
  all.filter((one) => !isFirst(one)),
];

function move(fills: readonly OrderedFill[], by: number): void {
  for (const fill of fills) fill.seq += by;
}

/** Whether fresh ones lead to those that are kept, in the first coin of which one leads to the other and is not led to by it; undefined: in none. */
function goesBefore(fresh: readonly OrderedFill[], kept: readonly Kept[]): boolean | undefined {
  const byCoin = groupedBy(kept, ({ coin }) => coin);
  for (const [coin, own] of groupedBy(fresh, (fill) => fill.coin)) {
    const there = byCoin.get(coin);
    if (there === undefined) continue;
    const links = [...own].sort((a, b) => a.seq - b.seq).map(linkOf);
    const leads = isChain([...links, ...there]);
    if (leads !== isChain([...there, ...links])) return leads;
  }
  return undefined;
}

/** What the order of a fill depends on. */
export const linkOf = ({ start_position, is_buy, size }: OrderedFill): Link => ({
  start: Number(start_position),
  delta: is_buy ? Number(size) : -Number(size),
});
