import type { Sql, Statement } from '../../../db/sql';

const SPELLINGS: Statement = {
  name: 'perps_coin_spellings',
  keyed: true,
  text: 'SELECT coin, lookup, first_seen FROM perp_coin WHERE lookup = ANY ($1::text[]) AND (is_delisted IS NOT NULL OR first_seen < $2) ORDER BY coin COLLATE "C"',
};

/** A coin of the catalogue, or one that was filled before now. */
export interface KnownCoin {
  coin: string;
  /** Its first fill. */
  first_seen: Date | null;
}

/** Coins that the venue has by `now`, in their order, whatever the case they are asked for in. An exact match wins; undefined where the venue has none. */
export async function listKnownCoins(sql: Sql, coins: readonly string[], now: Date): Promise<(KnownCoin | undefined)[]> {
  const known = await sql.query<KnownCoin & { lookup: string }>(SPELLINGS, [coins.map((coin) => coin.toUpperCase()), now]);
  return coins.map((coin) => known.find((row) => row.coin === coin) ?? known.find(({ lookup }) => lookup === coin.toUpperCase()));
}

/** The one of them. */
export const findKnownCoin = async (sql: Sql, coin: string, now: Date): Promise<KnownCoin | undefined> =>
  (await listKnownCoins(sql, [coin], now))[0];
