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

const KEPT = {
  name: 'perps_kept_at_ends',
  text: `
SELECT coin, trader, tid::text, oid::text, (extract(epoch FROM timestamp) * 1000)::float8 AS time, seq, start_position::float8 AS start,
  (CASE WHEN is_buy THEN size ELSE -size END)::float8 AS delta
FROM perp_fill WHERE trader = ANY($1) AND timestamp IN (${instant('$2')}, ${instant('$3')}) ORDER BY seq`,
};

/**
 * Pages may be cut within a millisecond, or tell one again: of an account that has fills at the first or the last instant of `fills` in the store, new ones are
 * placed beside those. Places of `fills` are changed in place.
 */
export async function continueOrdinals(client: PoolClient, fills: readonly OrderedFill[]): Promise<void> {
  const [first, last] = spanOf(fills);
  const ends = fills.filter(({ time }) => time === first || time === last);
  const traders = [...new Set(ends.map(({ trader }) => trader))];
  const { rows } = await client.query<Kept>({ ...KEPT, values: [traders, first, last] });
  if (rows.length === 0) return;
  const known = new Set(rows.map(keyOf));
  const told = groupedBy(ends, placeOf);
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
