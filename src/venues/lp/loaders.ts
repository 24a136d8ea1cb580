import DataLoader from 'dataloader';
import { byKey } from '../../lib/by-key';
import type { lp_pool as PoolRecord, lp_token as TokenRecord } from '../../generated/prisma/client';
import type { Sql, Statement } from '../../db/sql';
import { HOUR_MS, earliestOf, latestOf } from '../../lib/time';
import type { GraphContext } from '../venue';
import { STABLES } from './chain-addresses';
import { findLately } from './queries/lately';
import { liquidityOf, shareOfPool } from './queries/liquidity';
import { type PoolIds, listPoolIds } from './queries/pool-ids';

/** A provider on a day: asks for the score of the newest run before that day. */
interface OwnerDay {
  owner: string;
  /** `2026-01-31`. */
  day: string;
}

/** USD, decimal text, that moved at an instant: asks for its share of what the pool held just before. */
interface PoolMove {
  pool_address: string;
  timestamp: Date;
  usd: string;
}

export interface LpLoaders {
  /** When a position or a recurring order changed, a provider acted or something was swapped last, in milliseconds; -Infinity before the first. */
  newestChange(): Promise<number>;
  pool: DataLoader<string, PoolRecord | null>;
  token: DataLoader<string, TokenRecord | null>;
  /** A provider by its address, as soon as it provided. */
  provider: DataLoader<string, { owner: string } | null>;
  /** What names a pool in an answer. */
  poolIds: DataLoader<string, PoolIds | null>;
  /** USD per token now, decimal text; null when no price of the last hour is known. */
  price: DataLoader<string, string | null>;
  /** Value of a pool's reserves now, decimal text. */
  liquidity: DataLoader<string, string | null>;
  /** Percent, decimal text; null when no liquidity of the day before is known. */
  shareOfPool: DataLoader<PoolMove, string | null, string>;
  /** Version of the newest score run up to today; null before the first. */
  scoreVersion(): Promise<string | null>;
  /** Score, decimal text. */
  scoreBefore: DataLoader<OwnerDay, string | null, string>;
}

const NEWEST_CHANGE: Statement = {
  name: 'lp_newest_change',
  keyed: true,
  text: `
SELECT greatest((SELECT max(changed_at) FROM lp_position_sum), (SELECT max(last_at) FROM lp_owner_life), (SELECT max(changed_at) FROM dca_order),
  (SELECT max("timestamp") FROM lp_swap WHERE "timestamp" >= $1), (SELECT max(hour) FROM lp_pool_hour)) AS at`,
};

/** Swaps that are not looked at are older than what is newest all the same. */
const findNewestChange = (sql: Sql, now: Date): Promise<number> =>
  findLately(
    now,
    async (since) => (await sql.query<{ at: Date | null }>(NEWEST_CHANGE, [since]))[0]?.at?.getTime() ?? Number.NEGATIVE_INFINITY,
    (newest, since) => newest >= since.getTime(),
  );

const SCORE_VERSION: Statement = {
  name: 'lp_score_version',
  keyed: true,
  text: 'SELECT s.version FROM lp_score s WHERE s.day <= $1::date ORDER BY s.day DESC LIMIT 1',
};

async function findScoreVersion(sql: Sql, day: string): Promise<string | null> {
  const [run] = await sql.query<{ version: string }>(SCORE_VERSION, [day]);
  return run?.version ?? null;
}

/** One loader a key, alive for one request. */
export function makeLoaders({ prisma, sql, now, scored_until }: GraphContext): LpLoaders {
  let newest: Promise<number> | undefined;
  let version: Promise<string | null> | undefined;
  return {
    newestChange: () => (newest ??= findNewestChange(sql, now)),
    scoreVersion: () => (version ??= findScoreVersion(sql, scored_until)),
    pool: byKey(
      (keys) => prisma.lp_pool.findMany({ where: { pool_address: { in: keys } } }),
      (row) => row.pool_address,
    ),
    token: byKey(
      (keys) => prisma.lp_token.findMany({ where: { mint: { in: keys } } }),
      (row) => row.mint,
    ),
    provider: byKey(
      (keys) =>
        prisma.lp_owner_life.findMany({
          where: { owner: { in: keys }, pool_type: 'all', first_at: { lt: now } },
          select: { owner: true },
        }),
      (row) => row.owner,
    ),
    poolIds: byKey(
      (keys) => listPoolIds(sql, keys),
      (row) => row.pool_address,
    ),
    price: new DataLoader(async (keys) => {
      const mints = keys.filter((mint) => !STABLES.includes(mint));
      const rows = await prisma.token_price.findMany({
        where: { mint: { in: mints }, minute: { lte: now, gte: new Date(now.getTime() - HOUR_MS) } },
        orderBy: { minute: 'desc' },
        distinct: ['mint'],
      });
      const found = new Map(rows.map((row) => [row.mint, row.usd.toString()]));
      return keys.map((mint) => (STABLES.includes(mint) ? '1' : (found.get(mint) ?? null)));
    }),
    liquidity: new DataLoader(async (keys) => {
      const found = await listLiquidity(sql, keys, now);
      return keys.map((key) => found.get(key) ?? null);
    }),
    shareOfPool: new DataLoader(
      async (keys) => {
        const times = keys.map((key) => key.timestamp);
        const rows = await sql.query<{ place: number; pct: string | null }>(SHARES, [
          keys.map((_, place) => place),
          keys.map((key) => key.pool_address),
          times,
          keys.map((key) => key.usd),
          earliestOf(times),
          latestOf(times),
        ]);
        const found = new Map(rows.map((row) => [row.place, row.pct]));
        return keys.map((_, place) => found.get(place) ?? null);
      },
      { cacheKeyFn: ({ pool_address, timestamp, usd }) => `${pool_address}/${timestamp.getTime()}/${usd}` },
    ),
    scoreBefore: new DataLoader(
      async (keys) => {
        const rows = await sql.query<{ owner: string; day: string; score: string | null }>(SCORES, [
          keys.map((key) => key.owner),
          keys.map((key) => key.day),
        ]);
        const found = new Map(rows.map((row) => [`${row.owner}/${row.day}`, row.score]));
        return keys.map(({ owner, day }) => found.get(`${owner}/${day}`) ?? null);
      },
      { cacheKeyFn: ({ owner, day }) => `${owner}/${day}` },
    ),
  };
}

const liquidity = (earlier: boolean): Statement => ({
  name: `lp_liquidity_${earlier ? 'earlier' : 'now'}`,
  keyed: true,
  text: `
SELECT p.pool_address, l.usd, coalesce(p.as_of > $2, false) AS told_later FROM lp_pool p LEFT JOIN LATERAL (${liquidityOf('p', '$2', earlier)}) l ON true
WHERE p.pool_address = ANY($1::text[])`,
});
const [LIQUIDITY, EARLIER_LIQUIDITY] = [liquidity(false), liquidity(true)];

/** USD, decimal text, by pool: of hours before an instant only those are looked for that the catalogue told of after it. */
async function listLiquidity(sql: Sql, pools: readonly string[], at: Date): Promise<Map<string, string | null>> {
  const ask = (statement: Statement, asked: readonly string[]) =>
    sql.query<{ pool_address: string; usd: string | null; told_later: boolean }>(statement, [asked, at]);
  const rows = await ask(LIQUIDITY, pools);
  const later = rows.filter(({ usd, told_later }) => usd === null && told_later).map(({ pool_address }) => pool_address);
  const earlier = later.length === 0 ? [] : await ask(EARLIER_LIQUIDITY, later);
  return new Map([...rows, ...earlier].map((row) => [row.pool_address, row.usd]));
}

const SHARES: Statement = {
  name: 'lp_shares_of_pools',
  keyed: true,
  text: `SELECT m.place, ${shareOfPool('m', '$5', '$6')} AS pct FROM unnest($1::int[], $2::text[], $3::timestamptz[], $4::numeric[]) AS m(place, pool_address, "timestamp", usd)`,
};

/** A run scores everybody who can be scored, so whoever is not in the newest run before the day has no score. Each day's run is looked for once, not for each owner. */
const SCORES: Statement = {
  name: 'lp_scores_before',
  keyed: true,
  text: `
WITH asked AS (SELECT owner, day::date AS day FROM unnest($1::text[], $2::text[]) AS a(owner, day)),
runs AS MATERIALIZED (SELECT d.day, (SELECT max(s.day) FROM lp_score s WHERE s.day < d.day) AS run FROM (SELECT DISTINCT day FROM asked) d)
SELECT a.owner, to_char(a.day, 'YYYY-MM-DD') AS day, s.score
FROM asked a JOIN runs r ON r.day = a.day JOIN lp_score s ON s.owner = a.owner AND s.day = r.run`,
};
