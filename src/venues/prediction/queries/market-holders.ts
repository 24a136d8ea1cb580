import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import type { Sql } from '../../../db/sql';
import { END, type Window } from '../../../lib/timeframe';
import { compareAmounts } from '../exact';
import { listComputed } from '../rollups/positions-as-of';
import { Parameters } from './parameters';
import { cutAt, partOf, placesOf } from './pieces';

/** Smart wallets that held an outcome at the two ends of a window. */
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

/** The market they hold, with the group that conversions tie it to. */
type HeldMarket = Pick<MarketRecord, 'condition_id' | 'neg_risk_id' | 'resolved_at'>;

/** The same of those that what is kept tells, and the wallets of which only their facts tell. */
interface KeptRow extends SmartHoldersRow {
  unsure_start: string[];
  unsure_end: string[];
}

/**
 * Smart wallets whose positions hold shares of an outcome of a market at the start and the end of a window. An outcome that none of them was ever in is not told.
 */
export async function listSmartHolders(sql: Sql, market: HeldMarket, window: Window, runs: EndRuns): Promise<SmartHoldersRow[]> {
  const rows = await listKeptHolders(sql, market, window, runs);
  const [starts, ends] = await Promise.all([
    countComputed(sql, market.condition_id, window.from, rows.map(({ token_id, unsure_start }) => [token_id, unsure_start])), // prettier-ignore
    countComputed(sql, market.condition_id, window.to, rows.map(({ token_id, unsure_end }) => [token_id, unsure_end])), // prettier-ignore
  ]);
  return rows.map(({ token_id, holders_start, holders_end }, index) => ({
    token_id,
    holders_start: holders_start + (starts[index] as number),
    holders_end: holders_end + (ends[index] as number),
  }));
}

/** How many of these wallets hold each token as of an instant, by their facts. */
async function countComputed(sql: Sql, condition_id: string, at: Date, asked: [token_id: string, wallets: string[]][]): Promise<number[]> {
  const wallets = [...new Set(asked.flatMap(([, unsure]) => unsure))];
  const positions = await listComputed(sql, wallets.map((wallet) => ({ wallet, condition_id })), { facts: at, resolutions: at }); // prettier-ignore
  const held = positions.filter(({ shares, redeemed_shares }) => compareAmounts(shares, redeemed_shares) > 0);
  return asked.map(([token_id, unsure]) => {
    const own = new Set(unsure);
    return held.filter((position) => position.token_id === token_id && own.has(position.wallet)).length;
  });
}

/**
 * What a position held at an instant is what it holds less what came since: exact, unless it gave away shares that nobody saw come, or a conversion
 * moved some since. What it had redeemed by then is all that it has redeemed, or nothing where it did so since; unless it redeemed before and since. Such positions are named, to be told by their facts.
 */
function listKeptHolders(sql: Sql, market: HeldMarket, { from, to }: Window, runs: EndRuns): Promise<KeptRow[]> {
  const parameters = new Parameters();
  const cut = cutAt([from, to, END]);
  const { rolled, torn } = placesOf(cut, parameters);
  const part = partOf(cut, parameters);
  const id = parameters.add(market.condition_id, 'text');
  const [first, last] = [parameters.add(from, 'timestamptz'), parameters.add(to, 'timestamptz')];
  const [start, end, score] = [
    parameters.add(runs.start_day, 'date'),
    parameters.add(runs.end_day, 'date'),
    parameters.add(runs.min_score, 'numeric'),
  ];
  const isOver = (at: Date): string => parameters.add(market.resolved_at !== null && market.resolved_at <= at, 'boolean');
  const ending = (name: 'start' | 'end', at: Date, instant: string): string => {
    const is_over = isOver(at);
    const again = `${is_over} AND redeems_${name} AND redeemed_at < ${instant}`;
    return `was_${name}, (was_${name} AND last_fact_at >= ${instant} AND (unseen_shares > 0 OR converted_at >= ${instant} OR ${again})) IS TRUE AS unsure_${name},
  shares - COALESCE(net_${name}, 0) - COALESCE(sets_${name}, 0) > CASE WHEN ${is_over} AND redeems_${name} IS NOT TRUE THEN redeemed_shares ELSE 0 END AS held_${name}`;
  };
  const told = (name: 'start' | 'end'): string =>
    `(count(*) FILTER (WHERE was_${name} AND held_${name} AND NOT unsure_${name}))::int AS holders_${name}, COALESCE(array_agg(wallet) FILTER (WHERE unsure_${name}), '{}') AS unsure_${name}`;
  const stirred = `condition_id = ${id} AND wallet IN (SELECT wallet FROM own WHERE was_start AND last_fact_at >= ${first} OR was_end AND last_fact_at >= ${last})`;
  const text = `WITH own AS MATERIALIZED (
  SELECT wallet, token_id, shares, redeemed_shares, unseen_shares, last_fact_at, at_start AND opened_at < ${first} AS was_start, at_end AND opened_at < ${last} AS was_end
  FROM pm_position JOIN (
    SELECT wallet, bool_or(day = ${start}) AS at_start, bool_or(day = ${end}) AS at_end FROM pm_wallet_score WHERE day IN (${start}, ${end}) AND score >= ${score} GROUP BY wallet
  ) AS judged USING (wallet) WHERE condition_id = ${id} AND paid_shares > 0
), moved AS MATERIALIZED (
  SELECT wallet, token_id, ${part('hour::timestamptz')} AS part, buy_shares - sell_shares AS net, sets, redeems FROM pm_wallet_hour WHERE ${rolled} AND ${stirred}
  UNION ALL
  SELECT wallet, COALESCE(token_id, ''), ${part('"timestamp"')}, CASE side WHEN 'BUY' THEN size WHEN 'SELL' THEN -size ELSE 0 END,
    CASE side WHEN 'SPLIT' THEN size WHEN 'MERGE' THEN -size ELSE 0 END, (side = 'REDEEM')::int FROM pm_trade WHERE ${torn} AND ${stirred}
), wallets AS (
  SELECT wallet, sum(sets) AS sets_start, sum(sets) FILTER (WHERE part = 2) AS sets_end, sum(redeems) > 0 AS redeems_start, sum(redeems) FILTER (WHERE part = 2) > 0 AS redeems_end
  FROM moved WHERE sets <> 0 OR redeems > 0 GROUP BY wallet
), tokens AS (
  SELECT wallet, token_id, sum(net) AS net_start, sum(net) FILTER (WHERE part = 2) AS net_end FROM moved WHERE token_id <> '' GROUP BY wallet, token_id
), converted AS (
  SELECT wallet, max("timestamp") AS converted_at FROM pm_trade WHERE side = 'CONVERSION' AND "timestamp" >= ${first}
    AND condition_id = ANY (ARRAY(SELECT condition_id FROM pm_market WHERE condition_id = ${id} OR neg_risk_id = ${parameters.add(market.neg_risk_id, 'text')})) GROUP BY wallet
), redeemed AS (
  SELECT wallet, min("timestamp") AS redeemed_at FROM pm_trade WHERE ${isOver(to)} AND condition_id = ${id} AND side = 'REDEEM' AND wallet IN (SELECT wallet FROM moved WHERE redeems > 0) GROUP BY wallet
), held AS (
  SELECT token_id, wallet, ${ending('start', from, first)},
  ${ending('end', to, last)}
  FROM own LEFT JOIN wallets USING (wallet) LEFT JOIN tokens USING (wallet, token_id) LEFT JOIN converted USING (wallet) LEFT JOIN redeemed USING (wallet)
)
SELECT token_id, ${told('start')}, ${told('end')} FROM held GROUP BY token_id`;
  return sql.query<KeptRow>({ name: 'pm_smart_holders', text, keyed: true }, parameters.values);
}
