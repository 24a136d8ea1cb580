import { CURSOR_FORMS, timedPosition } from '../../../lib/cursor';
import type { Sql, Statement } from '../../../db/sql';
import { type PageRequest, type PagedList, byParent } from '../../../lib/connection';
import { loadOverlay, positionsSql } from '../rollups/positions-as-of';
import type { PositionRow } from '../rollups/positions-row';
import { VENUE_CONTRACTS } from '../venue-contracts';
import { keyParts } from './linked-trades';

const AS_OF = positionsSql('$5', '$6', 'paid_shares > 0 AND wallet = wanted.a AND ($7::text IS NULL OR status = $7)');

const OF_WALLET: Statement = {
  name: 'pm_linked_positions_wallet',
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS wanted(parent, a, b, c) CROSS JOIN LATERAL (
  SELECT * FROM (${AS_OF}) AS position
  WHERE $8::timestamptz IS NULL OR (opened_at, condition_id, token_id) < ($8, $9::text, $10::text)
  ORDER BY opened_at DESC, condition_id DESC, token_id DESC LIMIT $11) AS found
ORDER BY wanted.parent, found.opened_at DESC, found.condition_id DESC, found.token_id DESC`,
};

/** Which of a wallet's positions. */
export interface LinkedPositionsFilter {
  status: string | null;
}

/** A wallet's positions, the last opened first. */
export const walletPositions = (sql: Sql): PagedList<PositionRow, LinkedPositionsFilter> => ({
  name: 'pm positions of wallet',
  async list(parents, { filter, to, after, limit }: PageRequest<LinkedPositionsFilter>) {
    const values = [parents, ...keyParts(parents), to, await loadOverlay(sql, to), filter.status, ...timedPosition(after, 3), limit];
    return byParent(await sql.query<PositionRow & { parent: string }>(OF_WALLET, values));
  },
  position: ({ opened_at, condition_id, token_id }) => [opened_at.getTime(), condition_id, token_id],
  forms: [CURSOR_FORMS.instant, CURSOR_FORMS.condition_id, /^\d{1,78}$/],
});

/** A wallet's stake in an outcome. */
export type PositionKey = Pick<PositionRow, 'wallet' | 'condition_id' | 'token_id'>;

const BY_KEY: Statement = {
  name: 'pm_linked_positions_by_key',
  text: `SELECT wanted.place, found.* FROM unnest($1::int[], $2::text[], $3::text[], $4::text[]) AS wanted(place, a, b, c) CROSS JOIN LATERAL (${positionsSql(
    '$5',
    '$6',
    'paid_shares > 0 AND wallet = wanted.a AND condition_id = wanted.b AND token_id = wanted.c',
  )}) AS found`,
};

/** Positions of these wallets in these outcomes, in their order, as of `now`; null where one was never bought. */
export async function listPositionsByKey(sql: Sql, keys: readonly PositionKey[], now: Date): Promise<(PositionRow | null)[]> {
  const rows = await sql.query<PositionRow & { place: number }>(BY_KEY, [
    keys.map((_, place) => place),
    keys.map(({ wallet }) => wallet),
    keys.map(({ condition_id }) => condition_id),
    keys.map(({ token_id }) => token_id),
    now,
    await loadOverlay(sql, now),
  ]);
  const found = new Map(rows.map((row) => [row.place, row]));
  return keys.map((_, place) => found.get(place) ?? null);
}

/** Shares held now: of a resolved market what was not redeemed. */
const HELD = 'shares - redeemed_shares';

const holders = (by: 'market' | 'outcome'): Statement => ({
  name: `pm_linked_holders_${by}`,
  text: `SELECT wanted.parent, found.* FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS wanted(parent, a, b, c) CROSS JOIN LATERAL (
  SELECT *, ${HELD} AS held FROM (${positionsSql(
    '$5',
    '$6',
    `condition_id = wanted.a${by === 'outcome' ? ' AND token_id = wanted.b' : ''} AND paid_shares > 0 AND shares > redeemed_shares AND wallet <> ALL ($7::text[])`,
  )}) AS position
  WHERE $8::numeric IS NULL OR (${HELD}, wallet, token_id) < ($8::numeric, $9::text, $10::text)
  ORDER BY held DESC, wallet DESC, token_id DESC LIMIT $11) AS found
ORDER BY wanted.parent, found.held DESC, found.wallet DESC, found.token_id DESC`,
});

const HOLDERS = { market: holders('market'), outcome: holders('outcome') };

/** A position with the shares held now, an exact decimal text. */
export type HolderRow = PositionRow & { held: string };

/** Positions with shares left, the largest first; the parent's key is a condition id, or `condition|token`. */
export const linkedHolders = (sql: Sql, of: 'market' | 'outcome'): PagedList<HolderRow, null> => ({
  name: `pm holders of ${of}`,
  async list(parents, { to, after, limit }: PageRequest<null>) {
    const values = [
      parents,
      ...keyParts(parents),
      to,
      await loadOverlay(sql, to),
      VENUE_CONTRACTS,
      ...(after ?? [null, null, null]),
      limit,
    ];
    return byParent(await sql.query<HolderRow & { parent: string }>(HOLDERS[of], values));
  },
  position: ({ held, wallet, token_id }) => [held, wallet, token_id],
  forms: [CURSOR_FORMS.number, CURSOR_FORMS.evm_address, /^\d{1,78}$/],
});
