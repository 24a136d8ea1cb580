import type { Sql } from '../../../db/sql';
import { Parameters } from './parameters';
import { type Cut, partOf, placesOf } from './pieces';

/** Smart wallets that held an outcome at the two ends of a cut's last part. */
export interface SmartHoldersRow {
  token_id: string;
  holders_start: number;
  holders_end: number;
}

/** Which run judges who is smart at either end; null: there is none. */
export interface EndRuns {
  start_day: string | null;
  end_day: string | null;
  min_score: number;
}

/**
 * Smart wallets with net shares of each outcome of a market (bought less sold, and full sets) at the start and the end of the second part of a
 * cut that begins with everything. A wallet that has redeemed holds nothing.
 */
export function listSmartHolders(sql: Sql, condition_id: string, cut: Cut, runs: EndRuns): Promise<SmartHoldersRow[]> {
  const parameters = new Parameters();
  const { rolled, torn } = placesOf(cut, parameters);
  const part = partOf(cut, parameters);
  const market = `condition_id = ${parameters.add(condition_id, 'text')}`;
  const [start, end, score] = [
    parameters.add(runs.start_day, 'date'),
    parameters.add(runs.end_day, 'date'),
    parameters.add(runs.min_score, 'numeric'),
  ];
  const text = `WITH judged AS (
  SELECT wallet, bool_or(day = ${start}) AS at_start, bool_or(day = ${end}) AS at_end FROM pm_wallet_score WHERE day IN (${start}, ${end}) AND score >= ${score} GROUP BY wallet
), moved AS (
  SELECT wallet, token_id, ${part('hour::timestamptz')} AS part, buy_shares - sell_shares AS net, sets, redeems FROM pm_wallet_hour WHERE ${market} AND ${rolled} AND wallet IN (SELECT wallet FROM judged)
  UNION ALL
  SELECT wallet, COALESCE(token_id, ''), ${part('"timestamp"')}, CASE side WHEN 'BUY' THEN size WHEN 'SELL' THEN -size ELSE 0 END,
    CASE side WHEN 'SPLIT' THEN size WHEN 'MERGE' THEN -size ELSE 0 END, (side = 'REDEEM')::int FROM pm_trade WHERE ${market} AND ${torn} AND wallet IN (SELECT wallet FROM judged)
), wallets AS (
  SELECT wallet, COALESCE(sum(sets) FILTER (WHERE part = 1), 0) AS sets_start, sum(sets) AS sets_end, COALESCE(sum(redeems) FILTER (WHERE part = 1), 0) AS redeems_start, sum(redeems) AS redeems_end
  FROM moved GROUP BY wallet
), tokens AS (
  SELECT wallet, token_id, COALESCE(sum(net) FILTER (WHERE part = 1), 0) AS net_start, sum(net) AS net_end FROM moved WHERE token_id <> '' GROUP BY wallet, token_id
)
SELECT outcome.token_id, (count(*) FILTER (WHERE at_start AND redeems_start = 0 AND COALESCE(net_start, 0) + sets_start > 0))::int AS holders_start,
  (count(*) FILTER (WHERE at_end AND redeems_end = 0 AND COALESCE(net_end, 0) + sets_end > 0))::int AS holders_end
FROM pm_outcome AS outcome CROSS JOIN wallets JOIN judged USING (wallet) LEFT JOIN tokens ON tokens.wallet = wallets.wallet AND tokens.token_id = outcome.token_id
WHERE outcome.${market} GROUP BY outcome.token_id`;
  return sql.query<SmartHoldersRow>({ name: 'pm_smart_holders', text }, parameters.values);
}
