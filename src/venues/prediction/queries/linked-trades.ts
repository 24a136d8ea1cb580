import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import { ROW_COLUMNS, type TradeRow } from './trade-row';

/** What fills and redemptions hang on. The parent's key: condition id, wallet, `condition|token`, `wallet|condition|token`. */
export type TradeParent = 'market' | 'wallet' | 'outcome' | 'position';

/** Which of a parent's rows. */
export interface LinkedTradesFilter {
  side: string | null;
  min_usdc: number;
}

const OF: Record<TradeParent, string> = {
  market: 'trade.condition_id = wanted.a',
  wallet: 'trade.wallet = wanted.a',
  outcome: 'trade.condition_id = wanted.a AND trade.token_id = wanted.b',
  position: 'trade.wallet = wanted.a AND trade.condition_id = wanted.b AND trade.token_id = wanted.c',
};

const page = (parent: TradeParent): Statement => ({
  name: `pm_linked_trades_${parent}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS wanted(parent, a, b, c) CROSS JOIN LATERAL (
  SELECT ${ROW_COLUMNS} FROM pm_trade AS trade
  WHERE ${OF[parent]} AND trade."timestamp" < $5::timestamptz AND trade.side IN ('BUY', 'SELL', 'REDEEM') AND ($6::text IS NULL OR trade.side = $6) AND trade.usdc_size >= $7::numeric
    AND ($8::timestamptz IS NULL OR (trade."timestamp", trade.trade_id) < ($8, $9::uuid))
  ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT $10) AS found
ORDER BY wanted.parent, found."timestamp" DESC, found.trade_id DESC`,
});

const PAGES: Record<TradeParent, Statement> = {
  market: page('market'),
  wallet: page('wallet'),
  outcome: page('outcome'),
  position: page('position'),
};

/** The parts of each parent's key, one array a part. */
export const keyParts = (parents: readonly string[]): (string | null)[][] => {
  const split = parents.map((parent) => parent.split('|'));
  return [0, 1, 2].map((place) => split.map((parts) => parts[place] ?? null));
};

/** Fills and redemptions by what they hang on, newest first. */
export const linkedTrades = (sql: Sql, of: TradeParent): PagedList<TradeRow, LinkedTradesFilter> => ({
  name: `pm trades of ${of}`,
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedTradesFilter>) {
    const values = [parents, ...keyParts(parents), to, filter.side, String(filter.min_usdc), ...timedPosition(after, 2), limit];
    return byParent(await sql.query<TradeRow & { parent: string }>(PAGES[of], values));
  },
  position: ({ timestamp, trade_id }) => [timestamp.getTime(), trade_id],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.uuid],
});

const ONE: Statement = {
  name: 'pm_trade_by_id',
  text: `SELECT ${ROW_COLUMNS} FROM pm_trade WHERE condition_id = $1 AND trade_id = $2::uuid AND "timestamp" < $3 AND side IN ('BUY', 'SELL', 'REDEEM')`,
};

/** One row of a market by its id, as of `now`; undefined where there is none. */
export async function findTrade(sql: Sql, condition_id: string, trade_id: string, now: Date): Promise<TradeRow | undefined> {
  return (await sql.query<TradeRow>(ONE, [condition_id, trade_id, now]))[0];
}
