import type { PrismaClient } from '../../../generated/prisma/client';

/**
 * The venue's spelling of a coin, whatever its case: one of the catalogue, or one that was filled before `now`. An exact
 * match wins; undefined when the venue has none.
 */
export async function findCoin(prisma: PrismaClient, coin: string, now: Date): Promise<string | undefined> {
  const rows = await prisma.perp_coin.findMany({ where: { lookup: coin.toUpperCase() }, orderBy: { coin: 'asc' } });
  const known = rows.filter((row) => row.is_delisted !== null || (row.first_seen !== null && row.first_seen < now)).map((row) => row.coin);
  return known.find((name) => name === coin) ?? known[0];
}
