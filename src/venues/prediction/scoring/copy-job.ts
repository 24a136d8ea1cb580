import type { Sql, Statement } from '../../../db/sql';
import { DAY_MS, HOUR_MS, isoDay } from '../../../lib/time';
import { countWindow, scanCopiers } from './copy-scan';
import { IS_MACHINE, SMART_SCORE } from './tiers';

/** Leaders looked at: those that are worth copying, best first. */
const MOST_LEADERS = 200;
const WINDOW_MS = 30 * DAY_MS;
/** What wallets/copy-traders asks by default. */
const MAX_LAG_MS = HOUR_MS;
const MIN_OVERLAP = 3;

const LEADERS: Statement = {
  name: 'pm_copy_leaders',
  text: 'SELECT wallet FROM pm_wallet_score WHERE day = $1::date AND score >= $2 ORDER BY score DESC, wallet LIMIT $3',
};

const MACHINES: Statement = {
  name: 'pm_copy_machines',
  text: `SELECT wallet FROM pm_wallet_score WHERE day = $1::date AND ${IS_MACHINE}`,
};

// `dumb` stands last among tags.
const TAG: Statement = {
  name: 'pm_copy_tag',
  text: `UPDATE pm_wallet_score SET tags = array_remove(tags, 'dumb') || ARRAY['copy_trader'] || CASE WHEN 'dumb' = ANY(tags) THEN ARRAY['dumb'] ELSE '{}' END
WHERE day = $1::date AND wallet = ANY($2)`,
};

const COUNT: Statement = {
  name: 'pm_copy_count',
  text: `UPDATE pm_wallet_score AS score SET breakdown = score.breakdown || led.counted
FROM unnest($2::text[], $3::jsonb[]) AS led(wallet, counted) WHERE score.day = $1::date AND score.wallet = led.wallet`,
};

/** Finds who copied the best wallets of the run of the day of `now` over 30 days, machines left out: tags them, and counts them in their leader's row. */
export async function tagCopiers(sql: Sql, now: Date): Promise<void> {
  const day = isoDay(now);
  const leaders = await sql.query<{ wallet: string }>(LEADERS, [day, SMART_SCORE, MOST_LEADERS]);
  const machines = new Set((await sql.query<{ wallet: string }>(MACHINES, [day])).map(({ wallet }) => wallet));
  const window = { from: new Date(now.getTime() - WINDOW_MS), to: now };
  const counts = await countWindow(sql, window);
  const followers = new Map<string, number>();
  const copiers = new Set<string>();
  for (const { wallet } of leaders) {
    const copied = await scanCopiers(sql, { leader: wallet, window, max_lag_ms: MAX_LAG_MS, min_overlap: MIN_OVERLAP }, counts);
    const found = copied.filter((copier) => !machines.has(copier.wallet));
    followers.set(wallet, found.length);
    for (const copier of found) copiers.add(copier.wallet);
  }
  await sql.query(TAG, [day, [...copiers]]);
  await sql.query(COUNT, [day, [...followers.keys()], [...followers.values()].map((copy_followers) => JSON.stringify({ copy_followers }))]);
}
