import type { PoolClient } from 'pg';
import { groupedBy } from '../../../lib/grouped';
import { type Fill, SETTLEMENT, isDerived, isSettlement } from './fill';

/** A side of a match without a trade id, as the store has it. */
interface Side {
  coin: string;
  time: number;
  tid: string;
  tx_hash: string;
  price: string;
  size: string;
  is_buy: boolean;
}

const AT = 'coin = ANY ($1) AND timestamp = ANY ($2) AND tid < 0';

const SIDES = {
  name: 'perps_sides_without_id',
  text: `
SELECT coin, (extract(epoch FROM timestamp) * 1000)::float8 AS time, tid::text, tx_hash, trim_scale(price)::text AS price, trim_scale(size)::text AS size, is_buy
FROM perp_fill WHERE ${AT} AND tx_hash IS NOT NULL AND dir <> '${SETTLEMENT}' ORDER BY tid`,
};

const TOLD = { name: 'perps_matches_without_id', text: `SELECT tid::text FROM perp_match WHERE ${AT}` };

/**
 * Under which id the match of a fill is kept, by the fill's own id, where that is another one: without a trade id both sides derive one of their own.
 * What they share is transaction, instant, price and size: as many matches have the same as there are buys, or sells where these are more. The fills
 * are in the store already.
 */
export async function matchIds(client: PoolClient, fills: readonly Fill[]): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>();
  const own = fills.filter((fill) => isDerived(fill) && fill.tx_hash !== null && !isSettlement(fill));
  if (own.length === 0) return ids;
  const values = [[...new Set(own.map(({ coin }) => coin))], [...new Set(own.map(({ time }) => time))].map((time) => new Date(time))];
  const { rows: sides } = await client.query<Side>({ ...SIDES, values });
  const { rows: matches } = await client.query<Pick<Side, 'tid'>>({ ...TOLD, values });
  const [told, given] = [new Set(matches.map(({ tid }) => tid)), new Set(own.map(({ tid }) => tid))];
  for (const group of groupedBy(sides, contentOf).values()) {
    const buys = group.filter(({ is_buy }) => is_buy).length;
    const [known, fresh] = [group.filter(({ tid }) => told.has(tid)), group.filter(({ tid }) => given.has(tid) && !told.has(tid))];
    const kept = [...known, ...fresh.slice(0, Math.max(0, Math.max(buys, group.length - buys) - known.length))];
    for (const side of [true, false]) {
      const opposite = kept.filter(({ is_buy }) => is_buy !== side);
      const others = group.filter((one) => one.is_buy === side && !kept.includes(one));
      // Those that were there have their matches: the first ones.
      others.sort((one, other) => Number(given.has(one.tid)) - Number(given.has(other.tid)));
      others.forEach(({ tid }, place) => ids.set(tid, (opposite[place % opposite.length] ?? (kept[0] as Side)).tid));
    }
  }
  return ids;
}

const contentOf = ({ coin, time, tx_hash, price, size }: Side): string => `${coin}|${time}|${tx_hash}|${price}|${size}`;
