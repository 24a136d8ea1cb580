import type { Pool, PoolClient } from 'pg';
import { analyzeIndexed } from '../../../db/indexes';
import { inTransaction } from '../../../db/transaction';
import { type Sql, type Statement, sqlOf } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { isoDay } from '../../../lib/time';
import { type JudgedPosition, evidenceOf, hasEnded, isPosition, winRatesOf } from '../positions/figures';
import { forgetCrowdsOf } from '../rollups/crowd-due';
import { isAnyLater, listPositionsAsOf } from '../rollups/positions-as-of';
import type { PositionRow } from '../rollups/positions-row';
import { tellStandings } from '../rollups/standings';
import { forgetSmart } from '../rollups/smart-positions';
import { tellCrowds } from '../rollups/told-crowds';
import { noteJudged, tellSettled } from '../rollups/told-settled';
import { forgetJudged, tellHours } from '../rollups/told-hours';
import { forgetParticipantsOf, tellParticipants } from '../rollups/told-participants';
import { tellSmartPositions } from '../rollups/told-positions';
import { tellWallets } from '../rollups/told-wallets';
import { tagCopiers } from './copy-job';
import { type Followable, followableOf } from './follow';
import { listFollowed, tellFollowed } from './follow-days';
import { ONE_SCORING, keepInsiders } from './insider-job';
import { behaviourOf, isBusy, listHabits, listWashShares } from './behaviour';
import { type PmScore, scoreWallet } from './formula';
import { type PmTag, tagsOf } from './tags';
import { MACHINE_TAGS } from './tiers';

/** Wallets scored at once: so many that they have about as many positions as fit well into memory. */
const CHUNK = { first: 200, least: 20, most: 2_000, positions: 20_000 };

const nextChunk = (wallets: number, positions: number): number =>
  Math.min(CHUNK.most, Math.max(CHUNK.least, Math.round((wallets * CHUNK.positions) / Math.max(1, positions))));

/** A row of pm_wallet_score. */
interface ScoreRow {
  wallet: string;
  score: number | null;
  tags: PmTag[];
  version: string;
  win_rate: number | null;
  win_rate_lb: number | null;
  positions: number;
  edge: number | null;
  edge_low: number | null;
  edge_high: number | null;
  z: number | null;
  breakdown: Record<string, unknown>;
  followable_roi_pct: number | null;
  followable_share: number | null;
}

interface Wallet {
  wallet: string;
  first_trade_at: Date;
}

/** What was found out about the whole venue before wallets are looked at one by one. */
interface VenueFindings {
  washes: ReadonlyMap<string, number>;
  insiders: ReadonlyMap<string, number>;
  any_later: boolean;
}

/**
 * Writes the scores and tags of every wallet that traded before `now` as the run of its UTC day, in one transaction; an earlier run of the day is
 * replaced. Reads positions as of `now`, so that a run can be made again later with the same result.
 */
export async function score(pool: Pool, now: Date, progress: (wallets: number) => void): Promise<{ wallets: number; scored: number }> {
  const counts = await inTransaction(pool, (client) => scoreAll(client, now, progress), ONE_SCORING);
  await tellSmartPositions(pool);
  await tellHours(pool, now);
  await tellParticipants(pool, now);
  await tellWallets(pool);
  await tellCrowds(pool);
  await tellSettled(pool);
  await tellStandings(pool, now);
  return counts;
}

async function scoreAll(client: PoolClient, now: Date, progress: (wallets: number) => void): Promise<{ wallets: number; scored: number }> {
  const sql = sqlOf(client);
  const day = isoDay(now);
  await client.query('DELETE FROM pm_wallet_score WHERE day = $1', [day]);
  await client.query('DELETE FROM pm_score_run WHERE day = $1', [day]);
  const venue: VenueFindings = {
    washes: await listWashShares(sql, now),
    insiders: await keepInsiders(sql, now),
    any_later: await isAnyLater(sql, now),
  };
  await tellFollowed(sql, now);
  const counts = { wallets: 0, scored: 0 };
  let size = CHUNK.first;
  for (let after = ''; ;) {
    const wallets = await sql.query<Wallet>(WALLETS, [after, now, size]);
    if (wallets.length === 0) break;
    const { rows, positions } = await scoreChunk(sql, wallets, venue, now);
    size = nextChunk(wallets.length, positions);
    await writeScores(sql, day, rows);
    counts.wallets += rows.length;
    counts.scored += rows.filter((row) => row.score !== null).length;
    progress(rows.length);
    after = wallets.at(-1)?.wallet ?? '';
  }
  if (counts.wallets > 0) await client.query('INSERT INTO pm_score_run (day) VALUES ($1)', [day]);
  // A day of which nobody has counted the rows is planned for as for one.
  await analyzeIndexed(client, ['pm_wallet_score']);
  await tagCopiers(sql, now);
  // First: what is kept no longer is then forgotten with all else that the run judged.
  await forgetSmart(client, day);
  await forgetCrowdsOf(client, day);
  await noteJudged(client, day);
  await forgetJudged(client, day);
  await forgetParticipantsOf(client, day);
  return counts;
}

const WALLETS: Statement = {
  name: 'pm_score_wallets',
  text: 'SELECT wallet, first_trade_at FROM pm_wallet WHERE wallet > $1 AND first_trade_at < $2 ORDER BY wallet LIMIT $3',
};

const MARKETS: Statement = {
  name: 'pm_score_markets',
  text: 'SELECT condition_id, category, COALESCE(event_slug, condition_id) AS event FROM pm_market WHERE condition_id = ANY($1)',
};

/** Positions with what they are judged by. */
async function listJudged(sql: Sql, rows: readonly PositionRow[]): Promise<JudgedPosition[]> {
  const ids = [...new Set(rows.map(({ condition_id }) => condition_id))];
  const markets = await sql.query<{ condition_id: string; category: string; event: string }>(MARKETS, [ids]);
  const known = new Map(markets.map((market) => [market.condition_id, market]));
  // The rows themselves: copies of so many fields are dear.
  return rows.map((row) => {
    const market = known.get(row.condition_id);
    return Object.assign(row, { category: market?.category ?? 'Other', event: market?.event ?? row.condition_id });
  });
}

async function scoreChunk(
  sql: Sql,
  wallets: readonly Wallet[],
  venue: VenueFindings,
  now: Date,
): Promise<{ rows: ScoreRow[]; positions: number }> {
  const kept = await listPositionsAsOf(sql, { wallets: wallets.map(({ wallet }) => wallet) }, now, venue.any_later);
  const positions = groupedBy(await listJudged(sql, kept), ({ wallet }) => wallet);
  const tradesOf = (wallet: string): number => (positions.get(wallet) ?? []).reduce((sum, { trades }) => sum + trades, 0);
  const habits = await listHabits(sql, wallets.map(({ wallet }) => wallet).filter((wallet) => isBusy(tradesOf(wallet))), now); // prettier-ignore
  const followed = groupedBy(await listFollowed(sql, wallets.map(({ wallet }) => wallet), now), ({ wallet }) => wallet); // prettier-ignore
  const rows = wallets.map(({ wallet, first_trade_at }) => {
    const own = positions.get(wallet) ?? [];
    const ended = own.filter((position) => isPosition(position) && hasEnded(position));
    const verdict = scoreWallet(ended.map(evidenceOf), now);
    const behaviour = behaviourOf(own, verdict.largest_event_share, {
      first_trade_at,
      habits: habits.get(wallet),
      self_trade_share: venue.washes.get(wallet) ?? null,
      insider_score: venue.insiders.get(wallet) ?? null,
      copy_score: null,
    });
    const payouts = new Map(ended.map((row) => [`${row.condition_id}|${row.token_id}`, row.payout === null ? null : Number(row.payout)]));
    const followable = followableOf(followed.get(wallet) ?? [], payouts);
    return rowOf(wallet, verdict, (score) => tagsOf({ ...behaviour, score }, now), { ...winRatesOf(ended), followable });
  });
  return { rows, positions: kept.length };
}

/** A machine's trading is no judgement: it is not scored, its tags tell why. */
function rowOf(
  wallet: string,
  verdict: PmScore,
  tags: (score: number | null) => PmTag[],
  figures: { win_rate: number | null; win_rate_lb: number | null; followable: Followable },
): ScoreRow {
  const { score, tier: _, ...breakdown } = verdict;
  const isMachine = tags(null).some((tag) => (MACHINE_TAGS as readonly string[]).includes(tag));
  const shown = isMachine ? null : score;
  return {
    wallet,
    score: shown,
    tags: tags(shown),
    version: verdict.version,
    win_rate: figures.win_rate,
    win_rate_lb: figures.win_rate_lb,
    positions: verdict.n,
    edge: verdict.edge,
    edge_low: verdict.edge_ci?.[0] ?? null,
    edge_high: verdict.edge_ci?.[1] ?? null,
    z: verdict.z,
    breakdown,
    followable_roi_pct: figures.followable.roi_pct,
    followable_share: figures.followable.share,
  };
}

const WRITE: Statement = {
  name: 'pm_score_write',
  text: `INSERT INTO pm_wallet_score (wallet, day, score, tags, version, win_rate, win_rate_lb, positions, edge, edge_low, edge_high, z, breakdown, followable_roi_pct, followable_share)
SELECT wallet, $2::date, score, ARRAY(SELECT jsonb_array_elements_text(tags)), version, win_rate, win_rate_lb, positions, edge, edge_low, edge_high, z, breakdown, followable_roi_pct, followable_share
FROM jsonb_to_recordset($1::jsonb) AS row(wallet text, score numeric, tags jsonb, version text, win_rate numeric, win_rate_lb numeric, positions int,
  edge numeric, edge_low numeric, edge_high numeric, z numeric, breakdown jsonb, followable_roi_pct numeric, followable_share numeric)`,
};

async function writeScores(sql: Sql, day: string, rows: readonly ScoreRow[]): Promise<void> {
  await sql.query(WRITE, [JSON.stringify(rows), day]);
}
