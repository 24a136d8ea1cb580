import type { QueryResultRow } from 'pg';
import type { Sql, Statement } from '../../../db/sql';
import type { PoolType } from '../chain-addresses';

/** The identifying fields of every answer about a pool: symbols of its tokens, the mint where no symbol is known. */
export interface PoolIds {
  pool_address: string;
  pool_type: PoolType;
  token_x: string | null;
  token_y: string | null;
  /** The same of a damm_v2 pool, null of others. */
  token_a: string | null;
  token_b: string | null;
  token_x_mint: string | null;
  token_y_mint: string | null;
}

const POOL_IDS: Statement = {
  name: 'lp_pool_ids',
  keyed: true,
  text: `
SELECT p.pool_address, p.pool_type, coalesce(x.symbol, p.mint_x) AS token_x, coalesce(y.symbol, p.mint_y) AS token_y, p.mint_x AS token_x_mint, p.mint_y AS token_y_mint
FROM lp_pool p LEFT JOIN lp_token x ON x.mint = p.mint_x LEFT JOIN lp_token y ON y.mint = p.mint_y WHERE p.pool_address = ANY($1::text[])`,
};

type IdsRow = Omit<PoolIds, 'token_a' | 'token_b'> & QueryResultRow;

/** What names the pools in an answer, in no order. */
export async function listPoolIds(sql: Sql, addresses: readonly string[]): Promise<PoolIds[]> {
  const rows = await sql.query<IdsRow>(POOL_IDS, [addresses]);
  return rows.map(({ pool_address, pool_type, token_x, token_y, token_x_mint, token_y_mint }) => {
    const damm = pool_type === 'damm_v2';
    return {
      pool_address,
      pool_type,
      token_x,
      token_y,
      token_a: damm ? token_x : null,
      token_b: damm ? token_y : null,
      token_x_mint,
      token_y_mint,
    };
  });
}
