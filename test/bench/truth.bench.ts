import type { Pool } from 'pg';
import { sqlOver } from '../../src/db/sql';
import { lpWorld } from '../../src/sandbox/simulator/lp';
import { perpsWorld } from '../../src/sandbox/simulator/perps';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { scanCopiers } from '../../src/venues/prediction/scoring/copy-scan';
import type { VenueName } from '../../src/lib/venue-name';
import { testDatabase } from '../support/database';
import { type ModelWallet, modelWallets } from '../venues/prediction/scoring/lab';
import { type Figure, printTable } from './measure';
import { WORLD_SCORED, WORLD_START, buildWorld } from './world-build';

/** A seed that nothing was tuned on: the day's, unless said. */
const SEED = Number(process.env.BENCH_SEED ?? new Date().toISOString().slice(0, 10).replace(/-/g, ''));
const FACTS = Number(process.env.BENCH_TRUTH ?? 60_000);
const MODEL_WALLETS = 30_000;
const TOP = 100;
const LEVELS = [60, 70, 80] as const;

/** Whoever is in the store, by id, with what rankings go by. */
interface Candidate {
  id: string;
  score: number | null;
  tags: string[];
  pnl: number;
  roi: number;
  win_rate: number;
}

/** Scores are kept by day: what was said of everybody last. */
const newest = (table: string, id: string): string => `SELECT DISTINCT ON (${id}) * FROM ${table} ORDER BY ${id}, day DESC`;

const CANDIDATES: Record<VenueName, string> = {
  prediction: `SELECT s.wallet AS id, s.score::float8 AS score, s.tags, p.pnl, p.roi, p.win_rate FROM (${newest('pm_wallet_score', 'wallet')}) s JOIN (
    SELECT wallet, sum(gain)::float8 AS pnl, (sum(gain) / nullif(sum(paid_usdc), 0))::float8 AS roi, (count(*) FILTER (WHERE gain > 0))::float8 / count(*) AS win_rate
    FROM pm_position WHERE status IN ('closed', 'resolved') GROUP BY wallet HAVING count(*) >= 5) p USING (wallet)`,
  perps: `SELECT s.trader AS id, s.score::float8 AS score, s.tags, p.pnl, p.roi, p.win_rate FROM (${newest('perp_score', 'trader')}) s JOIN (
    SELECT trader, sum(net_pnl)::float8 AS pnl, (sum(net_pnl) / nullif(sum(opened_usd), 0))::float8 AS roi, (count(*) FILTER (WHERE net_pnl > 0))::float8 / count(*) AS win_rate
    FROM perp_round_trip GROUP BY trader HAVING count(*) >= 5) p USING (trader)`,
  lp: `SELECT s.owner AS id, s.score::float8 AS score, coalesce(s.tags, '{}') AS tags, p.pnl, p.roi, p.win_rate FROM (${newest('lp_score', 'owner')}) s JOIN (
    SELECT owner, sum(withdrawn_usd + claimed_usd - deposited_usd)::float8 AS pnl, (sum(withdrawn_usd + claimed_usd - deposited_usd) / nullif(sum(deposited_usd), 0))::float8 AS roi,
      (count(*) FILTER (WHERE withdrawn_usd + claimed_usd > deposited_usd))::float8 / count(*) AS win_rate
    FROM lp_position_sum WHERE closed_at IS NOT NULL GROUP BY owner HAVING count(*) >= 3) p USING (owner)`,
};

const EVERYBODY: Record<VenueName, string> = {
  prediction: `SELECT wallet AS id, tags FROM (${newest('pm_wallet_score', 'wallet')}) s`,
  perps: `SELECT trader AS id, tags FROM (${newest('perp_score', 'trader')}) s`,
  lp: `SELECT owner AS id, coalesce(tags, '{}') AS tags FROM (${newest('lp_score', 'owner')}) s`,
};

/** Which tag should find which roles. */
const DETECTORS: Record<VenueName, Readonly<Record<string, readonly string[]>>> = {
  prediction: {
    insider_pattern: ['insider'],
    copy_trader: ['copier'],
    hft_bot: ['hft_bot'],
    market_maker: ['market_maker'],
    wash: ['wash'],
    dumb: ['loser'],
  },
  perps: { copy_trader: ['copier'], market_maker: ['market_maker'], scalper: ['scalper', 'wash_a', 'wash_b'], wash: ['wash_a', 'wash_b'] },
  lp: { sniper: ['sniper'], single_sided: ['single_sided'] },
};

interface Planted {
  id: string;
  role: string;
  /** The account it copies, or washes with. */
  of: string | null;
}

function truthOf(venue: VenueName): Planted[] {
  const options = { seed: SEED, size: FACTS, start: WORLD_START };
  if (venue === 'prediction') return predictionWorld(options).truth(WORLD_SCORED).map(({ wallet, ...rest }) => ({ id: wallet, ...rest })); // prettier-ignore
  if (venue === 'perps') return perpsWorld(options).truth(WORLD_SCORED).map(({ trader, ...rest }) => ({ id: trader, ...rest })); // prettier-ignore
  return lpWorld(options).truth().map(({ owner, ...rest }) => ({ id: owner, ...rest })); // prettier-ignore
}

const fraction = (part: number, whole: number): string => (whole === 0 ? '-' : (part / whole).toFixed(2));

/** Of those chosen, how many are what they should be; of those who are, how many were chosen. */
function row<Row>(what: string, chosen: readonly Row[], all: readonly Row[], isTrue: (row: Row) => boolean): Figure {
  const hits = chosen.filter(isTrue).length;
  const planted = all.filter(isTrue).length;
  return { what, chosen: chosen.length, planted, precision: fraction(hits, chosen.length), recall: fraction(hits, planted) };
}

function rankings<Row>(all: readonly Row[], by: Readonly<Record<string, (row: Row) => number>>, isTrue: (row: Row) => boolean): Figure[] {
  const top = Math.min(TOP, all.filter(isTrue).length);
  return Object.entries(by).map(([name, key]) => {
    const ranked = [...all].sort((a, b) => key(b) - key(a));
    return row(`first ${top} by ${name}`, ranked.slice(0, top), all, isTrue);
  });
}

async function skill(pool: Pool, venue: VenueName, roles: ReadonlyMap<string, string>): Promise<Figure[]> {
  const { rows } = await pool.query<Candidate>(CANDIDATES[venue]);
  const isSkilled = ({ id }: Candidate): boolean => roles.get(id) === 'skilled';
  const levels = venue === 'perps' ? [...LEVELS, 85] : LEVELS;
  return [
    ...levels.map((level) => row(`score >= ${level}`, rows.filter(({ score }) => (score ?? 0) >= level), rows, isSkilled)), // prettier-ignore
    ...rankings(rows, { score: ({ score }) => score ?? -1, 'raw PnL': ({ pnl }) => pnl, ROI: ({ roi }) => roi, 'win rate': ({ win_rate }) => win_rate }, isSkilled), // prettier-ignore
  ];
}

async function detections(pool: Pool, venue: VenueName, roles: ReadonlyMap<string, string>): Promise<Figure[]> {
  const { rows } = await pool.query<{ id: string; tags: string[] }>(EVERYBODY[venue]);
  return Object.entries(DETECTORS[venue]).map(
    ([tag, meant]) =>
    row(`tag ${tag}: ${meant.join(', ')}`, rows.filter(({ tags }) => tags.includes(tag)), rows, ({ id }) => meant.includes(roles.get(id) ?? '')), // prettier-ignore
  );
}

const pairOf = (a: string, b: string): string => [a, b].sort().join(' ');

/** Accounts that deal with each other more than with everybody else, by what the score run keeps. */
const DEALING = `
WITH total AS (SELECT trader, sum(matches) AS matches FROM perp_dealt GROUP BY trader)
SELECT a.trader AS a, a.other AS b FROM perp_dealt a JOIN perp_dealt b ON b.trader = a.other AND b.other = a.trader
JOIN total x ON x.trader = a.trader JOIN total y ON y.trader = b.trader
WHERE a.trader < a.other AND a.matches >= 10 AND 2 * a.matches >= x.matches AND 2 * b.matches >= y.matches`;

/** Clusters, told as pairs: leaders with who copies them (as wallets/copy-traders finds them over 30 days), accounts that wash with each other. */
async function clusters(pool: Pool, venue: VenueName, planted: readonly Planted[]): Promise<Figure[]> {
  const meant = (...roles: string[]): string[] => [
    ...new Set(planted.flatMap(({ id, role, of }) => (of !== null && roles.includes(role) ? [pairOf(id, of)] : []))),
  ];
  if (venue === 'perps') {
    const { rows } = await pool.query<{ a: string; b: string }>(DEALING);
    return [pairs('wash pairs', rows.map(({ a, b }) => pairOf(a, b)), meant('wash_a', 'wash_b'))]; // prettier-ignore
  }
  if (venue !== 'prediction') return [];
  const leaders = [...new Set(planted.flatMap(({ role, of }) => (role === 'copier' && of !== null ? [of] : [])))];
  const window = { from: WORLD_START, to: WORLD_SCORED };
  const found: string[] = [];
  for (const leader of leaders)
    for (const { wallet } of await scanCopiers(sqlOver({ pool, keyed: pool }), { leader, window, max_lag_ms: 3_600_000, min_overlap: 3 }))
      found.push(pairOf(leader, wallet));
  return [pairs(`copiers of ${leaders.length} copied wallets`, found, meant('copier'))];
}

function pairs(what: string, found: readonly string[], meant: readonly string[]): Figure {
  const hits = found.filter((pair) => meant.includes(pair)).length;
  return { what: `cluster: ${what}`, chosen: found.length, planted: meant.length, precision: fraction(hits, found.length), recall: fraction(hits, meant.length) }; // prettier-ignore
}

test.each(['prediction', 'perps', 'lp'] as const)('who is planted in %s, and who is found', async (venue) => {
  const db = await testDatabase();
  try {
    const built = await buildWorld(db.pool, { venue, size: FACTS, seed: SEED }, () => undefined);
    const planted = truthOf(venue);
    const roles = new Map(planted.map(({ id, role }) => [id, role]));
    const title = `Truth of ${venue}: simulated world of ${built.facts} facts in 30 days, seed ${SEED}`;
    printTable(title, [...(await skill(db.pool, venue, roles)), ...(await detections(db.pool, venue, roles)), ...(await clusters(db.pool, venue, planted))]); // prettier-ignore
  } finally {
    await db.drop();
  }
});

test('a model world of small edges', () => {
  const wallets = modelWallets(SEED, MODEL_WALLETS);
  const isSkilled = ({ skill: own }: ModelWallet): boolean => own === 'skilled';
  const fair = wallets.filter(({ skill: own, score }) => own === 'none' && score.n >= 30);
  const ranked = wallets.filter(({ n }) => n >= 30);
  printTable(`Truth of the wallet score: ${MODEL_WALLETS} model wallets, 5 % with an edge of 3 to 8 points, seed ${SEED}`, [
    ...LEVELS.map((level) => row(`score >= ${level}`, wallets.filter(({ score }) => (score.score ?? 0) >= level), wallets, isSkilled)), // prettier-ignore
    ...rankings(ranked, { score: ({ score }) => (score.score ?? -1) + (score.z ?? 0) / 1_000, 'raw PnL': ({ pnl }) => pnl, ROI: ({ roi }) => roi, 'win rate': ({ win_rate }) => win_rate, Sharpe: ({ sharpe }) => sharpe }, isSkilled), // prettier-ignore
    { ...row('no edge, n >= 30, yet score >= 60', fair.filter(({ score }) => (score.score ?? 0) >= 60), fair, () => false), precision: `${((100 * fair.filter(({ score }) => (score.score ?? 0) >= 60).length) / fair.length).toFixed(1)} % of them` }, // prettier-ignore
  ]);
});
