import type { PoolClient } from 'pg';
import { arrayOf } from './array-text';
import { moveLatest } from './latest-fills';
import { forgetHoursOf } from './told-hours';
import { forgetWalletsOf } from './told-wallets';

/** What a fill adds to the taken volume of its market's category; negative to take it away. */
export interface VolumeChange {
  condition_id: string;
  timestamp: Date;
  side: string;
  /** Fills of takers. */
  takes: number;
  /** USDC of takers, an exact decimal text. */
  taker_usdc: string;
}

const COLUMNS = 'unit, at, category, buys, sells, buy_usdc, sell_usdc';

// Reads `minute`: category, minute, side, takes, usdc.
const SUMS = `SELECT unit, date_trunc(unit, minute, 'UTC') AS at, category, COALESCE(sum(takes) FILTER (WHERE side = 'BUY'), 0)::int AS buys, COALESCE(sum(takes) FILTER (WHERE side = 'SELL'), 0)::int AS sells,
  COALESCE(sum(usdc) FILTER (WHERE side = 'BUY'), 0) AS buy_usdc, COALESCE(sum(usdc) FILTER (WHERE side = 'SELL'), 0) AS sell_usdc
FROM minute CROSS JOIN unnest(ARRAY['minute', 'hour', 'day']) AS unit GROUP BY 1, 2, 3`;

const FACT_MINUTES = `date_trunc('minute', "timestamp", 'UTC') AS minute, side, count(*) AS takes, sum(usdc_size) AS usdc`;
const TAKEN = `trade.is_taker AND trade.side IN ('BUY', 'SELL')`;

/** Items of a WITH list that add the sums of `minute`; `added` is what then is kept. */
const summing = (minute: string): string => `minute AS MATERIALIZED (${minute}), added AS (
INSERT INTO pm_category_volume AS kept (${COLUMNS}) ${SUMS} ORDER BY 1, 2, 3
ON CONFLICT (unit, at, category) DO UPDATE SET buys = kept.buys + EXCLUDED.buys, sells = kept.sells + EXCLUDED.sells,
  buy_usdc = kept.buy_usdc + EXCLUDED.buy_usdc, sell_usdc = kept.sell_usdc + EXCLUDED.sell_usdc
RETURNING unit, at, category, buys, sells
)`;

/** A statement that adds the sums of `minute` and tells which rows are left without a fill. */
const adding = (minute: string): string => `WITH ${summing(minute)} SELECT unit, at, category FROM added WHERE buys = 0 AND sells = 0`;

const minutesOf = (
  fills: string,
): string => `SELECT market.category, date_trunc('minute', fill."timestamp", 'UTC') AS minute, fill.side, sum(takes) AS takes, sum(taker_usdc) AS usdc
FROM ${fills} JOIN pm_market AS market ON market.condition_id = fill.condition_id WHERE takes <> 0 OR taker_usdc <> 0 GROUP BY 1, 2, 3`;

/** Items of a WITH list that add new fills to the volume of their categories: `fill`, an item before them with condition_id, timestamp, side, takes and taker_usdc. */
export const ADDING_FILLS = summing(minutesOf('fill'));

const ADD = adding(
  minutesOf(
    '(SELECT *, to_timestamp(seconds) AS "timestamp" FROM unnest($1::text[], $2::float8[], $3::text[], $4::int[], $5::numeric[]) AS given(condition_id, seconds, side, takes, taker_usdc)) AS fill',
  ),
);

const MOVE =
  adding(`SELECT CASE sign WHEN 1 THEN after ELSE before END AS category, minute, side, takes * sign AS takes, usdc * sign AS usdc FROM (
  SELECT moved.before, moved.after, ${FACT_MINUTES} FROM unnest($1::text[], $2::text[], $3::text[]) AS moved(condition_id, before, after)
  JOIN pm_trade AS trade ON trade.condition_id = moved.condition_id WHERE ${TAKEN} GROUP BY 1, 2, 3, 4
) AS fact CROSS JOIN unnest(ARRAY[-1, 1]) AS sign`);

/** An item of a WITH list that sums up a shorter unit. */
const longer = (unit: string, shorter: string): string => `${unit} AS MATERIALIZED (
  SELECT date_trunc('${unit}', at, 'UTC') AS at, category, sum(buys) AS buys, sum(sells) AS sells, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc FROM ${shorter} GROUP BY 1, 2
)`;

const MAKE = `WITH minute AS MATERIALIZED (
  SELECT date_trunc('minute', "timestamp", 'UTC') AS at, category, count(*) FILTER (WHERE side = 'BUY') AS buys, count(*) FILTER (WHERE side = 'SELL') AS sells,
    sum(usdc_size) FILTER (WHERE side = 'BUY') AS buy_usdc, sum(usdc_size) FILTER (WHERE side = 'SELL') AS sell_usdc
  FROM pm_trade AS trade JOIN pm_market AS market ON market.condition_id = trade.condition_id WHERE ${TAKEN} GROUP BY 1, 2
), ${longer('hour', 'minute')}, ${longer('day', 'hour')}
INSERT INTO pm_category_volume (${COLUMNS}) SELECT unit, at, category, buys, sells, COALESCE(buy_usdc, 0), COALESCE(sell_usdc, 0)
FROM (SELECT 'minute' AS unit, * FROM minute UNION ALL SELECT 'hour', * FROM hour UNION ALL SELECT 'day', * FROM day) AS sums ORDER BY 1, 2, 3`;

const EMPTIED = `DELETE FROM pm_category_volume AS kept USING unnest($1::text[], $2::timestamptz[], $3::text[]) AS gone(unit, at, category)
WHERE kept.unit = gone.unit AND kept.at = gone.at AND kept.category = gone.category`;

interface Key {
  unit: string;
  at: Date;
  category: string;
}

/** Adds what `statement` sums up; rows that are left without a fill go. */
async function add(client: PoolClient, statement: { name: string; text: string }, values: unknown[]): Promise<void> {
  const { rows } = await client.query<Key>({ ...statement, values });
  if (rows.length === 0) return;
  await client.query(EMPTIED, [rows.map(({ unit }) => unit), rows.map(({ at }) => at), rows.map(({ category }) => category)]);
}

/**
 * Adds fills to the volume of their markets' categories as these are now, inside the transaction that appends or removes them. Order does not
 * matter; each must be told once.
 */
export async function rollVolumes(client: PoolClient, changes: readonly VolumeChange[]): Promise<void> {
  const taken = changes.filter(
    ({ side, takes, taker_usdc }) => (side === 'BUY' || side === 'SELL') && (takes !== 0 || Number(taker_usdc) !== 0),
  );
  if (taken.length === 0) return;
  const [ids, sides] = [arrayOf(taken.map(({ condition_id }) => condition_id)), arrayOf(taken.map(({ side }) => side))];
  const seconds = arrayOf(taken.map(({ timestamp }) => timestamp.getTime() / 1_000));
  const values = [ids, seconds, sides, arrayOf(taken.map(({ takes }) => takes)), arrayOf(taken.map(({ taker_usdc }) => taker_usdc))];
  await add(client, { name: 'pm_roll_volumes', text: ADD }, values);
}

/** Category, event and other outcomes than the first of a market: one that nothing told of yet stands for a first one. */
interface Words {
  category: string;
  event_slug: string | null;
  others: string | null;
}

/** Those of markets before something may change them. */
export type CategoriesBefore = ReadonlyMap<string, Words>;

const CATEGORIES = `SELECT condition_id, category, event_slug, (SELECT string_agg(token_id, ',' ORDER BY token_id) FROM pm_outcome AS other
  WHERE other.condition_id = market.condition_id AND outcome_index > 0) AS others FROM pm_market AS market WHERE condition_id = ANY($1)`;

/** Categories, events and other outcomes than the first of those of these markets that are known. */
export async function listCategories(client: PoolClient, condition_ids: readonly string[]): Promise<CategoriesBefore> {
  const { rows } = await client.query<Words & { condition_id: string }>(CATEGORIES, [condition_ids]);
  return new Map(rows.map(({ condition_id, ...words }) => [condition_id, words]));
}

/** Moves what was taken on markets to the categories they have now, and takes out the wallets that were told by what has changed. All their facts must have been counted in the one before. */
export async function moveVolumes(client: PoolClient, before: CategoriesBefore): Promise<void> {
  if (before.size === 0) return;
  const now = await listCategories(client, [...before.keys()]);
  const changed = [...before].flatMap(([id, { category, event_slug, others }]) => {
    const after = now.get(id);
    return after === undefined || (after.category === category && after.event_slug === event_slug && after.others === others)
      ? []
      : [{ id, category, after: after.category }];
  });
  if (changed.length === 0) return;
  const moved = changed.filter(({ category, after }) => category !== after);
  if (moved.length > 0) {
    const values = [moved.map(({ id }) => id), moved.map(({ category }) => category), moved.map(({ after }) => after)];
    await add(client, { name: 'pm_move_volumes', text: MOVE }, values);
    await moveLatest(client, moved);
    await forgetHoursOf(client, moved.map(({ id }) => id)); // prettier-ignore
  }
  await forgetWalletsOf(client, changed.map(({ id }) => id)); // prettier-ignore
}

/** Makes the volume of all categories anew from pm_trade, inside the caller's transaction: readers see the old one until it commits. */
export async function rebuildVolumes(client: PoolClient): Promise<void> {
  await client.query('LOCK TABLE pm_category_volume IN SHARE ROW EXCLUSIVE MODE');
  await client.query('DELETE FROM pm_category_volume');
  await client.query(MAKE);
}
