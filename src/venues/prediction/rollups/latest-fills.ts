import type { PoolClient } from 'pg';
import { arrayOf } from './array-text';

/** What a fill, new or completed, tells of its wallet. */
export interface LatestChange {
  condition_id: string;
  wallet: string;
  side: string;
  timestamp: Date;
  /** 1 where it is a taker's, and was not known to be. */
  takes: number;
}

/** Where wallets are counted, by day and by hour of their latest fill: table, column, and SQL of it. */
const COUNTS = [
  ['pm_latest_day', 'day', `("at" AT TIME ZONE 'UTC')::date`],
  ['pm_latest_hour', 'hour', `date_trunc('hour', "at", 'UTC')`],
] as const;

/**
 * Items of a WITH list that count wallets on the days and in the hours of `sides`: category, at, and n, which is 1 for who is there now and -1 for who was; `counted`
 * tells how many are there.
 */
const counting = (sides: string): string =>
  [
    `side AS MATERIALIZED (${sides})`,
    ...COUNTS.map(
      ([table, column, of]) => `counted_${column} AS (INSERT INTO ${table} AS kept (category, ${column}, wallets)
SELECT category, ${of}, sum(n) FROM side GROUP BY 1, 2 HAVING sum(n) <> 0 ORDER BY 1, 2
ON CONFLICT (category, ${column}) DO UPDATE SET wallets = kept.wallets + EXCLUDED.wallets RETURNING wallets)`,
    ),
    `counted AS (${COUNTS.map(([, column]) => `SELECT wallets FROM counted_${column}`).join(' UNION ALL ')})`,
  ].join(', ');

/** Items of a WITH list that note `latest` (wallet, category, at) where it is later than what is kept; `counted` tells how many wallets are on each day and in each hour that changed. */
const noting = (latest: string): string => `moved AS MATERIALIZED (
  SELECT latest.wallet, latest.category, latest.at, kept.at AS before FROM (${latest}) AS latest
  LEFT JOIN pm_latest_fill AS kept ON kept.wallet = latest.wallet AND kept.category = latest.category WHERE kept.at IS NULL OR kept.at < latest.at
), noted AS (
  INSERT INTO pm_latest_fill (wallet, category, at) SELECT wallet, category, at FROM moved ORDER BY 1, 2 ON CONFLICT (wallet, category) DO UPDATE SET at = EXCLUDED.at
), ${counting('SELECT category, at, 1 AS n FROM moved UNION ALL SELECT category, before, -1 FROM moved WHERE before IS NOT NULL')}`;

const COUNTED = 'SELECT wallets FROM counted';

/** Items of a WITH list that note the fills of `fill`, an item before them with condition_id, wallet, timestamp and takes. Where `counted` has a zero: `forgetLeft`. */
export const NOTING_FILLS = noting(`SELECT wallet, '' AS category, max("timestamp") AS at FROM fill GROUP BY wallet
UNION ALL
SELECT wallet, market.category, max("timestamp") FROM fill JOIN pm_market AS market ON market.condition_id = fill.condition_id WHERE takes > 0 GROUP BY wallet, market.category`);

const ADD = `WITH fill AS MATERIALIZED (
  SELECT condition_id, wallet, to_timestamp(seconds) AS "timestamp", takes
  FROM unnest($1::text[], $2::text[], $3::float8[], $4::int[]) AS row(condition_id, wallet, seconds, takes)
), ${NOTING_FILLS} ${COUNTED}`;

/** Takes out the days and hours that nobody is left in. */
export const forgetLeft = (client: PoolClient): Promise<unknown> =>
  client.query(COUNTS.map(([table]) => `DELETE FROM ${table} WHERE wallets = 0`).join('; '));

/** Runs a statement that counts wallets; days and hours that nobody is left in go. */
async function count(client: PoolClient, text: string, values: unknown[], name?: string): Promise<void> {
  const { rows } = await client.query<{ wallets: number }>({ name, text, values });
  if (rows.some(({ wallets }) => wallets === 0)) await forgetLeft(client);
}

/** Notes fills of wallets, inside the transaction that appends or completes them. Order does not matter; twice is once. */
export async function rollLatest(client: PoolClient, changes: readonly LatestChange[]): Promise<void> {
  const fills = changes.filter(({ side }) => side === 'BUY' || side === 'SELL');
  if (fills.length === 0) return;
  const [ids, wallets] = [arrayOf(fills.map(({ condition_id }) => condition_id)), arrayOf(fills.map(({ wallet }) => wallet))];
  const seconds = arrayOf(fills.map(({ timestamp }) => timestamp.getTime() / 1_000));
  const values = [ids, wallets, seconds, arrayOf(fills.map(({ takes }) => takes))];
  await count(client, ADD, values, 'pm_roll_latest');
}

const FILL = `trade.side IN ('BUY', 'SELL')`;
const made = (
  wallets: string,
): string => `SELECT trade.wallet, '' AS category, max(trade."timestamp") AS at FROM pm_trade AS trade WHERE ${FILL}${wallets} GROUP BY 1
UNION ALL
SELECT trade.wallet, market.category, max(trade."timestamp") FROM pm_trade AS trade JOIN pm_market AS market ON market.condition_id = trade.condition_id
WHERE ${FILL} AND trade.is_taker${wallets} GROUP BY 1, 2`;

const FORGET = `WITH gone AS (DELETE FROM pm_latest_fill WHERE wallet = ANY($1) RETURNING category, at), ${counting('SELECT category, at, -1 AS n FROM gone')} ${COUNTED}`;
const MADE = `WITH made AS (INSERT INTO pm_latest_fill (wallet, category, at) ${made(' AND trade.wallet = ANY($1)')} RETURNING category, at),
${counting('SELECT category, at, 1 AS n FROM made')} ${COUNTED}`;

/** Makes the rows of these wallets anew from pm_trade, inside the transaction that removed some of their fills. */
export async function recomputeLatest(client: PoolClient, wallets: readonly string[]): Promise<void> {
  await count(client, FORGET, [wallets]);
  await count(client, MADE, [wallets]);
}

const MOVED = 'unnest($1::text[], $2::text[], $3::text[]) AS moved(condition_id, before, after)';
const TAKES = `SELECT moved.before, moved.after, trade.wallet, max(trade."timestamp") AS at FROM ${MOVED}
JOIN pm_trade AS trade ON trade.condition_id = moved.condition_id WHERE trade.is_taker AND ${FILL} GROUP BY 1, 2, 3`;

const MOVE_TO = `WITH ${noting(`SELECT wallet, after AS category, max(at) AS at FROM (${TAKES}) AS taken GROUP BY 1, 2`)} ${COUNTED}`;

// Only where the latest take of the category before was on a moved market is it another now.
const MOVE_FROM = `WITH left_behind AS (
  DELETE FROM pm_latest_fill AS kept USING (${TAKES}) AS taken
  WHERE kept.wallet = taken.wallet AND kept.category = taken.before AND kept.at <= taken.at RETURNING kept.wallet, kept.category, kept.at
), ${counting('SELECT category, at, -1 AS n FROM left_behind')}
SELECT DISTINCT wallet, category FROM left_behind`;

const MAKE_SOME = `WITH made AS (INSERT INTO pm_latest_fill (wallet, category, at)
SELECT given.wallet, given.category, max(trade."timestamp") FROM unnest($1::text[], $2::text[]) AS given(wallet, category)
JOIN pm_trade AS trade ON trade.wallet = given.wallet JOIN pm_market AS market ON market.condition_id = trade.condition_id AND market.category = given.category
WHERE trade.is_taker AND ${FILL} GROUP BY 1, 2 RETURNING category, at),
${counting('SELECT category, at, 1 AS n FROM made')} ${COUNTED}`;

/** Markets that are of another category now than the one their fills were noted in. */
export interface MovedMarket {
  id: string;
  category: string;
  after: string;
}

/** Moves takes on markets to the categories these have now. */
export async function moveLatest(client: PoolClient, moved: readonly MovedMarket[]): Promise<void> {
  const values = [moved.map(({ id }) => id), moved.map(({ category }) => category), moved.map(({ after }) => after)];
  const { rows } = await client.query<{ wallet: string; category: string }>(MOVE_FROM, values);
  // Before the others come, which would stand in for what is found of those that stay.
  await count(client, MAKE_SOME, [rows.map(({ wallet }) => wallet), rows.map(({ category }) => category)]);
  await count(client, MOVE_TO, values);
  await forgetLeft(client);
}

/** Makes all rows anew from pm_trade, inside the caller's transaction: readers see the old ones until it commits. */
export async function rebuildLatest(client: PoolClient): Promise<void> {
  const counts = COUNTS.map(([table]) => table);
  await client.query(`LOCK TABLE ${['pm_latest_fill', ...counts].join(', ')} IN SHARE ROW EXCLUSIVE MODE`);
  for (const table of ['pm_latest_fill', ...counts]) await client.query(`DELETE FROM ${table}`);
  await client.query(`INSERT INTO pm_latest_fill (wallet, category, at) ${made('')}`);
  for (const [table, column, of] of COUNTS)
    await client.query(
      `INSERT INTO ${table} (category, ${column}, wallets) SELECT category, ${of}, count(*) FROM pm_latest_fill GROUP BY 1, 2`,
    );
}
