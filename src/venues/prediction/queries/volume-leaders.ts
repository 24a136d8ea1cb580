import type { Sql, Statement } from '../../../db/sql';
import { IS_MACHINE } from '../scoring/tiers';
import { Parameters } from './parameters';

/** A wallet with what it is ranked by. */
interface Ranked {
  wallet: string;
  rank_value: number;
}

/** Which wallets may lead: traders of a category or all, without machines of the run of a day, or (null) with them. */
export interface VolumeScope {
  category: string | null;
  limit: number;
  machines_of: string | null;
}

/** Of so many wallets it need not be known how much they ever traded. */
const MOST_UNTOLD = 5_000;

const UNTOLD: Statement = {
  name: 'pm_untold_wallets',
  text: `SELECT wallet FROM pm_wallet WHERE NOT EXISTS (SELECT 1 FROM pm_told_wallet AS told WHERE told.wallet = pm_wallet.wallet) LIMIT ${MOST_UNTOLD + 1}`,
};

/** What a wallet ever bought and sold, USDC an exact decimal text: in no window did it do more. */
interface Bound {
  wallet: string;
  volume: string;
}

/**
 * The wallets of most volume in a window, best first, without a look at all of them: `rank` tells it of some (of those that have a rank), and they are asked for in
 * order of what they ever traded, until what the next ever traded is less than the last leader did in the window. Null where too little is told.
 */
export async function listVolumeLeaders<Row extends Ranked>(
  sql: Sql,
  scope: VolumeScope,
  rank: (wallets: readonly string[]) => Promise<Row[]>,
): Promise<Row[] | null> {
  // Asked first: what was told of a wallet stands there when it is no longer told, and who is not told by now is looked at.
  const untold = (await sql.query<{ wallet: string }>(UNTOLD, [])).map(({ wallet }) => wallet);
  if (untold.length > MOST_UNTOLD) return null;
  const seen = new Set(untold);
  let leaders = untold.length === 0 ? [] : leading(await rank(untold), scope.limit);
  // Who trades most has most to add up: at first few.
  for (let size = 4 * scope.limit; ; size *= 2) {
    const bounds = await listBounds(sql, scope, size);
    const wallets = bounds.map(({ wallet }) => wallet).filter((wallet) => !seen.has(wallet));
    if (wallets.length > 0) leaders = leading([...leaders, ...(await rank(wallets))], scope.limit);
    for (const wallet of wallets) seen.add(wallet);
    const [next, last] = [bounds[size - 1], leaders[scope.limit - 1]];
    if (next === undefined || (last !== undefined && Number(next.volume) < last.rank_value)) return leaders;
  }
}

const leading = <Row extends Ranked>(rows: readonly Row[], limit: number): Row[] =>
  [...rows].sort((a, b) => b.rank_value - a.rank_value || (a.wallet < b.wallet ? -1 : 1)).slice(0, limit);

/** The first `size` wallets by what they ever traded. */
function listBounds(sql: Sql, { category, machines_of }: VolumeScope, size: number): Promise<Bound[]> {
  const parameters = new Parameters();
  const people =
    machines_of === null
      ? ''
      : ` AND NOT EXISTS (SELECT 1 FROM pm_wallet_score AS judged WHERE judged.day = ${parameters.add(machines_of, 'date')} AND judged.wallet = figures.wallet AND ${IS_MACHINE})`;
  const text = `SELECT wallet, volume FROM pm_told_figures AS figures WHERE category = ${parameters.add(category ?? '', 'text')}${people}
ORDER BY volume DESC LIMIT ${parameters.add(size, 'int')}`;
  return sql.query<Bound>({ name: `pm_volume_bounds${machines_of === null ? '_all' : ''}`, text }, parameters.values);
}
