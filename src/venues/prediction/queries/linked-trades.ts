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

/** A row of a market by its id. */
export type TradeKey = Pick<TradeRow, 'condition_id' | 'trade_id'>;

const BY_ID: Statement = {
  name: 'pm_trades_by_id',
  text: `SELECT wanted.place, found.* FROM unnest($1::int[], $2::text[], $3::uuid[]) AS wanted(place, a, b) CROSS JOIN LATERAL (
  SELECT ${ROW_COLUMNS} FROM pm_trade AS trade
  WHERE trade.condition_id = wanted.a AND trade.trade_id = wanted.b AND trade."timestamp" < $4 AND trade.side IN ('BUY', 'SELL', 'REDEEM')) AS found`,
};

/** Rows by their ids, in their order, as of `now`; null where there is none. */
export async function listTradesById(sql: Sql, keys: readonly TradeKey[], now: Date): Promise<(TradeRow | null)[]> {
  const [markets, ids] = [keys.map(({ condition_id }) => condition_id), keys.map(({ trade_id }) => trade_id)];
  const rows = await sql.query<TradeRow & { place: number }>(BY_ID, [keys.map((_, place) => place), markets, ids, now]);
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, place) => found.get(place) ?? null);
}
