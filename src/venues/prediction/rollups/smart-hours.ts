import type { PoolClient } from 'pg';
import { SMART_SCORE } from '../scoring/tiers';
import { forgetLatest } from './smart-latest';
import { smartScores } from './smart-positions';

// Runs are made as their day begins, and judge the days after it: what is kept are the hours of its day, which the run before judges, and all later ones.
const KEPT_SINCE = `(SELECT day::timestamp AT TIME ZONE 'UTC' FROM pm_smart_run)`;

/** SQL condition: an hour of pm_smart_wallet_hour is none that whatever writes hours keeps. */
export const NOT_KEPT = `(hour < ${KEPT_SINCE}) IS NOT FALSE`;

/** What is told of a smart wallet's hour, as of any wallet's. */
export const SMART_COLUMNS = 'buys, sells, buy_usdc, sell_usdc, buy_shares, sell_shares, first_at, last_at, first_buy_at';

/** SQL that keeps what `hours`, a FROM item of rows of pm_wallet_hour, hold of smart wallets. */
export const keepSmartHours = (
  hours: string,
  scores = 'pm_wallet_score',
): string => `INSERT INTO pm_smart_wallet_hour (hour, condition_id, token_id, wallet, category, score, ${SMART_COLUMNS})
SELECT own.hour, own.condition_id, token_id, own.wallet, market.category, judged.score, ${SMART_COLUMNS} FROM ${hours} AS own CROSS JOIN pm_smart_run AS run
JOIN ${scores} AS judged ON judged.wallet = own.wallet AND judged.score >= ${SMART_SCORE}
  AND judged.day = CASE WHEN own.hour < (run.day + 1)::timestamp AT TIME ZONE 'UTC' THEN run.prior ELSE run.day END
JOIN pm_market AS market ON market.condition_id = own.condition_id
WHERE own.hour >= ${KEPT_SINCE} AND token_id <> '' AND buys + sells > 0
ON CONFLICT (condition_id, hour, token_id, wallet) DO UPDATE SET ${SMART_COLUMNS.split(', ')
  .map((name) => `${name} = EXCLUDED.${name}`)
  .join(', ')}`;

/** Makes the hours that are kept anew; writers must wait. */
export async function refillSmartHours(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ since: Date | null }>(`SELECT ${KEPT_SINCE} AS since`);
  const since = rows[0]?.since ?? null;
  if (since !== null) await forgetLatest(client, since);
  await client.query(`DELETE FROM pm_smart_wallet_hour WHERE hour >= ${KEPT_SINCE}`);
  await client.query(keepSmartHours('pm_wallet_hour', smartScores('SELECT unnest(ARRAY[prior, day]) FROM pm_smart_run')));
}

const MOVE = `UPDATE pm_smart_wallet_hour AS kept SET category = market.category FROM pm_market AS market
WHERE kept.condition_id = ANY($1) AND kept.hour >= ${KEPT_SINCE} AND market.condition_id = kept.condition_id`;

/** Moves the hours that are kept of these markets to the categories these have now. */
export async function moveSmartHours(client: PoolClient, condition_ids: readonly string[]): Promise<void> {
  await client.query(MOVE, [condition_ids]);
}
