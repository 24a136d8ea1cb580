import { type ModelWallet, type Style, STYLES, modelWallets } from './lab';

const WALLETS = 6000;
/** One wallet in 300, and one in 100. */
const TOP = [20, 60] as const;
const wallets = modelWallets(2026, WALLETS);

const skilledShare = (list: readonly ModelWallet[]): number => list.filter(({ skill }) => skill === 'skilled').length / list.length;
const scored = (from: number): ModelWallet[] => wallets.filter(({ score }) => score.score !== null && score.score >= from);
const precisionOf = (by: (wallet: ModelWallet) => number, minN: number): number[] => {
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
