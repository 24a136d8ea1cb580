import type { Sql, Statement } from '../../../db/sql';

const SPELLINGS: Statement = {
  name: 'perps_coin_spellings',
  keyed: true,
  text: 'SELECT coin, first_seen FROM perp_coin WHERE lookup = $1::text AND (is_delisted IS NOT NULL OR first_seen < $2) ORDER BY coin COLLATE "C"',
};

/** A coin of the catalogue, or one that was filled before now. */
export interface KnownCoin {
  coin: string;
  /** Its first fill. */
  first_seen: Date | null;
}

/** A coin that the venue has by `now`, whatever the case it is asked for in. An exact match wins; undefined when the venue has none. */
export async function findKnownCoin(sql: Sql, coin: string, now: Date): Promise<KnownCoin | undefined> {
  const known = await sql.query<KnownCoin>(SPELLINGS, [coin.toUpperCase(), now]);
  return known.find((row) => row.coin === coin) ?? known[0];
}

/** The venue's spelling of a coin. */
export const findCoin = async (sql: Sql, coin: string, now: Date): Promise<string | undefined> =>
  (await findKnownCoin(sql, coin, now))?.coin;
