import { seededRandom, standardDeviation } from '../../../../src/lib/statistics';
import { type PmScore, scoreWallet } from '../../../../src/venues/prediction/scoring/formula';
import type { EndedPosition } from '../../../../src/venues/prediction/scoring/evidence';
import { NOW, daysAgo, position } from './planted';

/**
 * A model world with known truth: 5 % of wallets have an edge of 3 to 8 points, 25 % lose as much, 70 % have none; positions log-normal with
 * median 27, stakes heavy-tailed, ends over a year, three styles of entry prices. What a ranking finds is then a number.
 */
const WALLETS = 6000;
/** One wallet in 300, and one in 100. */
const TOP = [20, 60] as const;
const random = seededRandom(2026);
const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const between = (low: number, high: number): number => low + (high - low) * random();

const STYLES = { favourites: [0.75, 0.94], coin_flips: [0.35, 0.65], long_shots: [0.04, 0.25] } as const;
type Style = keyof typeof STYLES;
type Skill = 'skilled' | 'losing' | 'none';

interface Wallet {
  skill: Skill;
  style: Style;
  n: number;
  score: PmScore;
  pnl: number;
  roi: number;
  win_rate: number;
  sharpe: number;
}

const wallets: Wallet[] = Array.from({ length: WALLETS }, () => {
  const draw = random();
  const skill: Skill = draw < 0.05 ? 'skilled' : draw < 0.3 ? 'losing' : 'none';
  const edge = skill === 'none' ? 0 : (skill === 'skilled' ? 1 : -1) * between(0.03, 0.08);
  const style = (Object.keys(STYLES) as Style[])[Math.floor(random() * 3)] as Style;
  const n = Math.max(1, Math.round(27 * Math.exp(1.2 * gauss())));
  return described(skill, style, positionsOf(n, edge, style));
});

function positionsOf(n: number, edge: number, style: Style): EndedPosition[] {
  const stake = Math.exp(4 + gauss());
  return Array.from({ length: n }, (_, index) => {
    const e = between(STYLES[style][0], STYLES[style][1]);
    const chance = Math.min(0.99, Math.max(0.005, e + edge));
    const cost_usdc = 1 + stake * Math.exp(gauss());
    return position({ event: `${index}`, e, y: random() < chance ? 1 : 0, cost_usdc, closed_at: daysAgo(between(0, 365)) });
  });
}

function described(skill: Skill, style: Style, positions: EndedPosition[]): Wallet {
  const n = positions.length;
  const total = (of: (position: EndedPosition) => number): number => positions.reduce((sum, each) => sum + of(each), 0);
  const pnl = total(({ pnl_usdc }) => pnl_usdc);
  const returns = positions.map(({ pnl_usdc, cost_usdc }) => pnl_usdc / cost_usdc);
  const spread = standardDeviation(returns) ?? 0;
  return {
    skill,
    style,
    n,
    score: scoreWallet(positions, NOW),
    pnl,
    roi: pnl / total(({ cost_usdc }) => cost_usdc),
    win_rate: total(({ y }) => y) / n,
    sharpe: spread > 0 ? returns.reduce((sum, each) => sum + each, 0) / n / spread : 0,
  };
}

const skilledShare = (list: readonly Wallet[]): number => list.filter(({ skill }) => skill === 'skilled').length / list.length;
const scored = (from: number): Wallet[] => wallets.filter(({ score }) => score.score !== null && score.score >= from);
const precisionOf = (by: (wallet: Wallet) => number, minN: number): number[] => {
  const ranked = wallets.filter(({ n }) => n >= minN).sort((a, b) => by(b) - by(a));
  return TOP.map((top) => skilledShare(ranked.slice(0, top)));
};

const byScore = precisionOf(({ score }) => (score.score ?? -1) + (score.z ?? 0) / 1000, 5);
const others = [5, 30].flatMap((minN) =>
  (['roi', 'pnl', 'win_rate', 'sharpe'] as const).map((key) => ({
    ranking: `${key}, n >= ${minN}`,
    precision: precisionOf((wallet) => wallet[key], minN),
  })),
);
const levels = [60, 70, 80].map((from) => ({ from, wallets: scored(from).length, precision: skilledShare(scored(from)) }));
const falseAlarms = (Object.keys(STYLES) as Style[]).map((style) => {
  const fair = wallets.filter((wallet) => wallet.skill === 'none' && wallet.style === style && wallet.score.n >= 30);
  return { style, wallets: fair.length, share: fair.filter(({ score }) => (score.score ?? 0) >= 60).length / fair.length };
});

beforeAll(() => {
  const row = (name: string, precision: readonly number[]): string =>
    `${name.padEnd(22)}${precision.map((each) => each.toFixed(2).padStart(6)).join('')}`;
  const lines = [
    `skilled of ${WALLETS} wallets: ${skilledShare(wallets).toFixed(3)}`,
    `${'among the first'.padEnd(22)}${TOP.map((top) => String(top).padStart(6)).join('')}`,
    row('score', byScore),
    ...others.map(({ ranking, precision }) => row(ranking, precision)),
    ...levels.map(({ from, wallets: count, precision }) => `score >= ${from}: ${count} wallets, skilled ${precision.toFixed(2)}`),
    ...falseAlarms.map(
      ({ style, wallets: count, share }) => `no edge, ${style}, n >= 30: ${(100 * share).toFixed(1)} % of ${count} reach 60`,
    ),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
});

test.each(others)('the score finds more of the skilled than $ranking', ({ ranking, precision }) => {
  // Ranked by Sharpe with 30 positions, the best of the others is not far behind where the list is long.
  const margin = ranking.startsWith('sharpe') ? 0 : 0.1;
  expect(byScore[0]).toBeGreaterThan((precision[0] as number) + margin);
  expect(byScore[1]).toBeGreaterThan(precision[1] as number);
});

test('the higher the score, the surer the skill', () => {
  const [at60, at70, at80] = levels.map(({ precision }) => precision) as [number, number, number];
  expect(at60).toBeGreaterThan(0.25);
  expect(at70).toBeGreaterThan(at60 + 0.1);
  // Fewer than ten reach 80 here: enough to tell them from 60, not from 70.
  expect(at80).toBeGreaterThan(at60 + 0.1);
});

test('few are called smart, about as many as are skilled', () => {
  const share = scored(60).length / wallets.length;
  expect(share).toBeGreaterThan(0.015);
  expect(share).toBeLessThan(0.06);
});

test.each(falseAlarms)('without an edge, $style reach 60 one time in twenty at most', ({ wallets: count, share }) => {
  expect(share).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / count));
});

test('who loses is hardly ever called smart, who is skilled hardly ever dumb', () => {
  expect(scored(60).filter(({ skill }) => skill === 'losing').length / scored(60).length).toBeLessThan(0.08);
  const dumb = wallets.filter(({ score }) => score.score !== null && score.score <= 30);
  expect(dumb.length).toBeGreaterThan(100);
  expect(skilledShare(dumb)).toBeLessThan(0.02);
});
