import type { Sql, Statement } from '../../../db/sql';
import { bucketOf } from '../../../lib/tiles';
import { DAY_MS, isoDay } from '../../../lib/time';
import type { Window } from '../../../lib/timeframe';
import type { InsiderSignalsRecord } from '../scoring/insider';
import { Parameters } from './parameters';
import { listRunDays } from './score-runs';
import { categoryPieces } from './taken-pieces';

/** A wallet on a market as the insider scan judged it. */
export interface InsiderBet {
  wallet: string;
  condition_id: string;
  score: number;
  first_bet_at: Date;
}

/** The same in a run, with all that is told of it. */
export interface InsiderRow extends InsiderBet {
  category: string;
  question: string | null;
  token_id: string;
  outcome: string;
  buy_usdc: string;
  generated_at: Date;
  signals: InsiderSignalsRecord;
}

/** SQL of the day of the newest run up to `day`; `run` is the day of the newest run of the scores, which leaves no row here where it finds nobody. */
const newestOf = (day: string, run: string): string =>
  `GREATEST((SELECT max(day) FROM pm_insider WHERE day <= ${day}::date), ${run}::date)`;

const NEWEST: Statement = {
  name: 'pm_insiders_newest',
  text: `SELECT found.wallet, found.condition_id, COALESCE(market.category, 'Other') AS category, market.question, found.token_id, COALESCE(token.outcome, found.token_id) AS outcome,
  found.score::float8 AS score, found.buy_usdc, found.first_bet_at, found.generated_at, found.signals
FROM pm_insider AS found LEFT JOIN pm_market AS market ON market.condition_id = found.condition_id
LEFT JOIN pm_outcome AS token ON token.condition_id = found.condition_id AND token.token_id = found.token_id
WHERE found.day = ${newestOf('$1', '$3')} AND found.generated_at <= $2
ORDER BY found.score DESC, found.wallet, found.condition_id`,
};

/** The newest run up to `now`, the highest scores first: signals are kept by their rank. `run_day`: of the newest run of the scores, or of a scan since. */
export function listNewestInsiders(sql: Sql, now: Date, run_day: string | null): Promise<InsiderRow[]> {
  return sql.query<InsiderRow>(NEWEST, [isoDay(now), now, run_day]);
}

const SCORES: Statement = {
  name: 'pm_insider_scores',
  keyed: true,
  text: `SELECT wallet, score::float8 AS score FROM pm_insider WHERE wallet = ANY($1) AND day = ${newestOf('$2', '$4')} AND generated_at <= $3`,
};

const SCANNED: Statement = {
  name: 'pm_insiders_scanned',
  keyed: true,
  text: `SELECT to_char(as_of AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM snapshot WHERE name = 'wallets/insiders' AND as_of <= $1`,
};

/** Day of the newest scan up to `now`: of the newest run of the scores, or of a scan since, which leaves its list of candidates also where it finds nobody. */
export async function findScanDay(sql: Sql, now: Date, run_day: string | null): Promise<string | null> {
  if (run_day === isoDay(now)) return run_day;
  const [scanned] = await sql.query<{ day: string }>(SCANNED, [now]);
  return scanned !== undefined && scanned.day > (run_day ?? '') ? scanned.day : run_day;
}

/** Scores of wallets on their markets in the newest run up to `now`; `run_day`: of the newest run of the scores, or of a scan since. */
export function listInsiderScores(
  sql: Sql,
  wallets: readonly string[],
  now: Date,
  run_day: string | null,
): Promise<{ wallet: string; score: number }[]> {
  return sql.query<{ wallet: string; score: number }>(SCORES, [wallets, isoDay(now), now, run_day]);
}

const EVER: Statement = {
  name: 'pm_insiders_ever',
  text: `SELECT DISTINCT ON (condition_id, wallet) wallet, condition_id, to_char(day, 'YYYY-MM-DD') AS day, score::float8 AS score, first_bet_at FROM pm_insider
WHERE day <= $1::date AND generated_at <= $2 ORDER BY condition_id, wallet, pm_insider.day DESC`,
};

/** A wallet on a market as it was last judged; from `lapsed_at` on runs no longer find it, null while the newest does. */
export interface JudgedBet extends InsiderBet {
  lapsed_at: Date | null;
}

/** Every wallet on every market as it was last judged up to `now`. A run that finds nobody leaves no row: that of today is only known by those it finds. */
export async function listInsidersEver(sql: Sql, now: Date): Promise<JudgedBet[]> {
  const today = isoDay(now);
  const [bets, runs] = await Promise.all([sql.query<InsiderBet & { day: string }>(EVER, [today, now]), listRunDays(sql, now)]);
  const days = [...new Set([...bets.map(({ day }) => day), ...runs.filter((day) => day < today)])].sort();
  const next = new Map(days.map((day, index) => [day, days[index + 1]]));
  return bets.map(({ day, ...bet }) => {
    const later = next.get(day);
    return { ...bet, lapsed_at: later === undefined ? null : new Date(later) };
  });
}

/** USDC taken in each bucket of the window, by start of the bucket in milliseconds. */
export async function listBucketVolumes(
  sql: Sql,
  window: Window,
  bucket_ms: number,
  category: string | null,
): Promise<Map<number, string>> {
  const parameters = new Parameters();
  const grain = bucket_ms % DAY_MS === 0 ? 'day' : 'hour';
  const pieces = categoryPieces([window.from, window.to], { category, named: false, grain }, parameters);
  const bucket = bucketOf('at', parameters.addLength(bucket_ms));
  const text = `SELECT ${bucket} AS bucket, sum(buy_usdc + sell_usdc) AS usdc FROM (${pieces}) AS piece GROUP BY 1`;
  const rows = await sql.query<{ bucket: Date; usdc: string }>(
    { name: `pm_bucket_volumes_${grain}s${category === null ? '' : '_category'}`, text, keyed: grain === 'day' || category !== null },
    parameters.values,
  );
  return new Map(rows.map(({ bucket: at, usdc }) => [at.getTime(), usdc]));
}
