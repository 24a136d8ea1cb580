import { wilsonLowerBound } from '../../../../src/lib/statistics';
import { normalEquivalent, studentEquivalent } from '../../../../src/lib/student-t';
import { prediction } from '../../../../src/venues/prediction/index';
import { testDatabase } from '../../../support/database';
import { loadWorld } from '../../../support/world';
import { type Facts, type Position, readFacts } from './facts';

/** Every wallet's score, its parts and its tags a second time, by the words of the methodology, from plain facts. Only what is drawn by lot is taken as told. */

const DAY = 86_400;
const START = new Date('2026-02-01T00:00:00Z');
const NOW = new Date('2026-02-27T10:30:00Z');
const now = NOW.getTime() / 1_000;

type Row = Record<string, unknown>;

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const clip = (x: number, least = 0, most = 1): number => Math.min(most, Math.max(least, x));
const tenth = (x: number): number => Math.round(10 * x) / 10;

function groupedBy<One>(rows: readonly One[], keyOf: (row: One) => string): One[][] {
  const groups = new Map<string, One[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups.values()];
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

interface Forecast {
  event: string;
  e: number;
  y: number;
  weight: number;
  gain: number;
  paid: number;
}

const isEligible = ({ status, paid, paid_shares }: Position): boolean =>
  status !== 'open' && status !== 'voided' && paid_shares > 0 && paid >= 1;

const forecastOf = ({ market, paid, paid_shares, back, gain, closed_at }: Position): Forecast => ({
  event: market.event,
  e: paid / paid_shares,
  y: back / paid_shares,
  weight: 2 ** ((closed_at - now) / DAY / 180),
  gain,
  paid,
});

interface Edge {
  edge: number;
  z: number;
  /** Where chance is the error: what the interval is then. */
  interval: [number, number] | null;
}

function edgeOf(events: readonly Forecast[][]): Edge | null {
  if (events.length === 0) return null;
  const all = events.flat();
  const weight = sum(all.map((one) => one.weight));
  const edge = sum(all.map(({ y, e, weight: w }) => w * (y - e))) / weight;
  const spread = Math.sqrt(sum(events.map((own) => sum(own.map(({ y, e, weight: w }) => w * (y - e - edge))) ** 2))) / weight;
  const chance = Math.sqrt(sum(all.map(({ e, weight: w }) => w ** 2 * e * (1 - e)))) / weight;
  const error = Math.max(spread, chance);
  const reach = studentEquivalent(1.645, events.length - 1) * error;
  const interval: [number, number] | null =
    chance >= spread || events.length > 300 ? [clip(edge - reach, -1), clip(edge + reach, -1)] : null;
  return { edge, z: normalEquivalent(edge / error, events.length - 1), interval };
}

/** Null where two events lead by the same: which of them is the largest, rounding decides. */
function withoutLargest(events: readonly Forecast[][]): Edge | null | 'tie' {
  const surplus = (own: readonly Forecast[]): number => sum(own.map(({ y, e }) => y - e));
  const [first, second] = [...events].sort((a, b) => surplus(b) - surplus(a));
  if (first && second && surplus(first) - surplus(second) < 1e-9) return 'tie';
  return edgeOf(events.filter((own) => own !== first));
}

function judged(positions: readonly Position[]) {
  const eligible = positions.filter(isEligible);
  const counted = eligible.map(forecastOf).filter(({ e }) => e < 0.95 - 5e-7);
  const events = groupedBy(counted, ({ event }) => event);
  const [edge, rest, n] = [edgeOf(events), withoutLargest(events), counted.length];
  const weight = sum(counted.map((one) => one.weight));
  const returned = sum(counted.map((one) => one.weight * clip(one.gain / one.paid, -1, 3)));
  const months = groupedBy(eligible, ({ closed_at }) => new Date(closed_at * 1_000).toISOString().slice(0, 7));
  const profitable = months.filter((own) => sum(own.map(({ gain }) => gain)) > 1e-9).length;
  const gain = sum(eligible.map((position) => position.gain));
  const byEvent = groupedBy(eligible, ({ market }) => market.event).map((own) => sum(own.map((position) => position.gain)));
  return {
    n,
    edge,
    rest,
    roi_shrunk: n === 0 ? 0 : ((returned / weight) * n) / (n + 50),
    consistency: (profitable + 2) / (months.length + 4),
    largest_event_share: gain > 1e-9 ? Math.min(1, Math.max(...byEvent) / gain) : null,
  };
}

function verdictOf({ n, edge, rest, roi_shrunk, consistency }: ReturnType<typeof judged>): { score: number | null; band: string; caps: string[] } {
  const z = edge?.z ?? 0;
  const robust = rest !== 'tie' && rest !== null && rest.z > 1.28;
  const smart = n >= 30 && z > 1.645 && robust;
  const band = smart ? 'smart' : n >= 10 && z < -1.645 ? 'dumb' : 'between';
  const parts = (0.6 * z) / 1.645 + 0.25 * clip(roi_shrunk / 0.15, -1) + 0.15 * clip((consistency - 0.5) / 0.3, -1);
  let score = 45 + 14.9 * clip(parts, -1);
  if (band === 'smart') score = 60 + 40 * clip((z - 1.645) / 3);
  if (band === 'dumb') score = Math.min(29.9, 30 - 30 * clip((-z - 1.645) / 3));
  const caps: string[] = [];
  for (const [cap, applies, most] of [['newcomer', n < 10, 39], ['trivial_edge', roi_shrunk < 0.02, 79], ['one_hit', !robust, 59]] as const) {
    if (!applies || score <= most) continue;
    score = most;
    caps.push(cap);
  }
  if (n >= 30 && z > 1.645 && !robust && !caps.includes('one_hit')) caps.push('one_hit');
  return { score: n < 5 ? null : tenth(score), band, caps };
} // prettier-ignore

function tagsOf(wallet: string, { trades, positions, markets }: Facts, largest_event_share: number | null, score: number | null): { tags: string[]; machine: boolean } {
  const own = trades.get(wallet) ?? [];
  const held = (positions.get(wallet) ?? []).filter(({ paid_shares }) => paid_shares > 0);
  const volume = sum(own.map(({ usdc }) => usdc));
  const categoryOf = (condition_id: string): string => markets.get(condition_id)?.category as string;
  const categories = groupedBy(own, ({ condition_id }) => categoryOf(condition_id)).map((rows) => ({ category: categoryOf((rows[0] as (typeof own)[number]).condition_id), usdc: sum(rows.map(({ usdc }) => usdc)) }));
  const [top] = categories.sort((a, b) => b.usdc - a.usdc);
  const byMarket = groupedBy(own, ({ condition_id }) => condition_id);
  const both = byMarket.filter((rows) => new Set(rows.map(({ token_id }) => token_id)).size > 1).length;
  const hold = median(held.filter(({ status }) => status !== 'open').map(({ opened_at, closed_at }) => closed_at - opened_at));
  const gaps = own.slice(1).map(({ at }, index) => at - (own[index]?.at as number)).sort((a, b) => a - b);
  const days = new Set(own.map(({ at }) => Math.floor(at / DAY))).size;
  const maker = own.length >= 500 && both > 0.6 * byMarket.length && hold !== null && hold < 3_600;
  const bot = (days > 0 && own.length >= 500 * days) || (own.length >= 200 && (gaps[Math.ceil(gaps.length / 2) - 1] as number) < 5);
  const told = maker || bot ? null : score;
  const rules: [string, boolean][] = [
    ['elite', told !== null && told >= 80],
    ['smart', told !== null && told >= 60 && told < 80],
    ['whale', held.some(({ paid }) => paid >= 50_000)],
    ['specialist', top !== undefined && top.usdc >= 0.6 * volume - 1e-6 && held.filter(({ market }) => market.category === top.category).length >= 10],
    ['fresh', own[0] !== undefined && now - own[0].at < 14 * DAY],
    ['one_hit', largest_event_share !== null && largest_event_share >= 0.6 - 5e-7],
    ['contrarian', held.filter(({ paid, paid_shares }) => paid / paid_shares < 0.5 - 5e-7).length > held.length / 2],
    ['market_maker', maker],
    ['hft_bot', bot],
    ['dumb', told !== null && told <= 30],
  ];
  return { tags: rules.filter(([, holds]) => holds).map(([tag]) => tag), machine: maker || bot };
} // prettier-ignore

describe('scores and tags of a whole world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: Facts;
  let stored: {
    wallet: string;
    score: number | null;
    tags: string[];
    win_rate: number | null;
    win_rate_lb: number | null;
    breakdown: Row;
  }[];
  beforeAll(async () => {
    db = await testDatabase();
    await loadWorld(db.pool, 'prediction', 20_000, START, NOW);
    await prediction.score?.(db.pool, NOW, () => undefined);
    facts = await readFacts(db.pool, NOW);
    stored = (await db.pool.query('SELECT wallet, score::float8 AS score, tags, win_rate::float8 AS win_rate, win_rate_lb::float8 AS win_rate_lb, breakdown FROM pm_wallet_score')).rows; // prettier-ignore
  });
  afterAll(() => db.drop());

  const near = (told: unknown, expected: number | null, what: string): void => {
    if (expected === null || told === null) expect([what, told]).toEqual([what, expected]);
    else expect([what, Math.abs((told as number) - expected) < 1e-6]).toEqual([what, true]);
  };

  test('what scores are made of, and what they come to', () => {
    expect(new Set(stored.map(({ wallet }) => wallet))).toEqual(new Set([...facts.trades.keys(), ...facts.positions.keys()]));
    for (const { wallet, score, tags, breakdown } of stored) {
      const own = judged(facts.positions.get(wallet) ?? []);
      const { edge, rest } = own;
      expect([wallet, breakdown.n]).toEqual([wallet, own.n]);
      near(breakdown.edge, edge?.edge ?? null, `edge of ${wallet}`);
      near(breakdown.z, edge?.z ?? null, `z of ${wallet}`);
      if (rest !== 'tie') near(breakdown.without_largest_event_z, rest?.z ?? null, `robust z of ${wallet}`);
      for (const name of ['roi_shrunk', 'consistency', 'largest_event_share'] as const)
        near(breakdown[name], own[name], `${name} of ${wallet}`);
      for (const bound of [0, 1]) if (edge?.interval) near((breakdown.edge_ci as number[])[bound], edge.interval[bound] as number, `interval of ${wallet}`); // prettier-ignore
      const p = breakdown.p_value as number | null;
      expect([wallet, breakdown.is_significant]).toEqual([wallet, edge !== null && edge.z > 1.645 && (p as number) < 0.05]);
      if (rest === 'tie') continue;
      const verdict = verdictOf(own);
      expect([wallet, breakdown.band, breakdown.caps]).toEqual([wallet, verdict.band, verdict.caps]);
      if (!tags.some((tag) => ['market_maker', 'hft_bot', 'wash'].includes(tag))) expect([wallet, score]).toEqual([wallet, verdict.score]);
    }
    expect(new Set(stored.map(({ breakdown }) => breakdown.band))).toEqual(new Set(['smart', 'between', 'dumb']));
  });

  test('win rates and tags', () => {
    for (const { wallet, score, tags, win_rate, win_rate_lb } of stored) {
      const positions = facts.positions.get(wallet) ?? [];
      const ended = positions.filter(({ status, paid_shares }) => status !== 'open' && status !== 'voided' && paid_shares > 0);
      const wins = ended.filter(({ gain }) => gain >= 5e-7).length;
      near(win_rate, ended.length === 0 ? null : wins / ended.length, `win rate of ${wallet}`);
      near(win_rate_lb, wilsonLowerBound(wins, ended.length), `lower bound of ${wallet}`);
      const { tags: expected, machine } = tagsOf(wallet, facts, judged(positions).largest_event_share, score);
      if (machine || tags.includes('wash')) expect([wallet, score]).toEqual([wallet, null]);
      // Insiders, copiers and washers have tests of their own.
      expect([wallet, tags.filter((tag) => !['insider_pattern', 'copy_trader', 'wash'].includes(tag)).sort()]).toEqual([wallet, expected.sort()]); // prettier-ignore
    }
    expect([...new Set(stored.flatMap(({ tags }) => tags))]).toEqual(expect.arrayContaining(['smart', 'dumb', 'one_hit', 'contrarian']));
  });
});
