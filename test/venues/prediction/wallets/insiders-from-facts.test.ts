import { rescanInsiders } from '../../../../src/venues/prediction/scoring/insider-job';
import { testDatabase } from '../../../support/database';
import { call } from '../markets/call';
import { Reckoning, type Suspicion, wilson } from './insiders-reckoning';
import { type ToldMarket, type ToldWorld, loadTold } from './told-world';

/** Scores and evidence of insider pattern, of one market and of the venue, from what the upstream told and nothing else. */

const DAY = 86_400_000;
const start = new Date('2026-01-05T00:00:00Z');
const now = new Date(start.getTime() + 24 * DAY + 27_000_000);
const NOW = now.getTime();

type Row = Record<string, unknown>;
interface OfMarket extends Row { insiders: (Row & { wallet: string; insider_score: number; signals: unknown })[]; summary: Row } // prettier-ignore
interface OfVenue { candidates: (Row & { wallet: string })[]; total_candidates: number } // prettier-ignore

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
const near = (value: number, digits = 4): unknown => expect.closeTo(value, digits);
const tenth = (value: number): number => Math.round(value * 10) / 10;
const iso = (time: number): string => `${new Date(time).toISOString().slice(0, 19)}Z`;

describe('insiders, from facts', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let told: ToldWorld;
  let reckoning: Reckoning;
  let insiders: Map<string, string>;

  beforeAll(async () => {
    db = await testDatabase();
    told = await loadTold(db.pool, 4, 12_000, start, new Date(NOW + 2 * DAY));
    reckoning = new Reckoning(told, NOW);
    insiders = new Map(told.world.truth(now).flatMap(({ wallet, role, condition_id }) => (role === 'insider' ? [[wallet, condition_id as string] as const] : []))); // prettier-ignore
    await rescanInsiders(db.pool, now);
  });
  afterAll(() => db.drop());

  const signalsOf = ({ points, days, usdc, hours, minutes, volume, categories, short }: Suspicion): Row => ({
    wallet_age: { score: near(points.wallet_age as number, 0.9), days: near(days) },
    first_bet_size: { score: near(points.first_bet_size as number, 0.9), usdc: near(usdc) },
    bet_timing: { score: near(points.bet_timing as number, 0.9), hours_before_end: near(hours) },
    withdrawal_speed: {
      score: near(points.withdrawal_speed as number, 0.9),
      minutes_after_resolution: minutes === null ? null : near(minutes),
    },
    market_selection: { score: near(points.market_selection as number, 0.9), is_binary: true, is_high_volume: volume >= 1e6 },
    category_concentration: { score: near(points.category_concentration as number, 0.9), distinct_categories: categories.length, primary_category: categories[0]?.category }, // prettier-ignore
    short_bet_win_rate: { score: near(points.short_bet_win_rate as number, 0.9), win_rate: short.n === 0 ? null : near(short.wins / short.n), sample_size: short.n }, // prettier-ignore
  });

  /** All wallets with a bet on the market, but those whose first bet cannot be told from another of the same second. */
  function suspicionsOf(market: ToldMarket): Suspicion[] {
    const wallets = [...new Set(reckoning.of(market.id).map(({ wallet }) => wallet))];
    return wallets.flatMap((wallet) => reckoning.suspicion(wallet, market) ?? []);
  }
  const isTold = ({ points }: Suspicion): boolean => !Number.isNaN(points.first_bet_size);

  /** Markets with an insider, a voided one, some that are open and some that nobody could know of. */
  function chosen(): ToldMarket[] {
    const seen = [...told.markets.values()].filter((market) => reckoning.of(market.id).length > 30);
    const open = seen.filter((market) => !reckoning.isResolved(market));
    const voided = seen.filter((market) => reckoning.isResolved(market) && market.payouts?.[0] === 0.5);
    const known = [...new Set(insiders.values())].flatMap((id) => told.markets.get(id) ?? []);
    const games = seen.filter(({ category }) => category === 'Sports' || category === 'Crypto' || category === 'Finance');
    return [...new Set([...known.slice(0, 8), ...open.slice(0, 5), ...voided.slice(0, 2), ...games.slice(0, 8)])];
  }

  test('markets/insiders: every wallet with its score and evidence, by every parameter', async () => {
    let compared = 0;
    for (const market of chosen()) {
      const all = suspicionsOf(market).filter(({ market: { created } }) => created < NOW);
      if (!all.every(isTold)) continue;
      const variations = [{ min_score: 0, limit: 100 }, {}, { min_score: 35, limit: 3 }, { min_score: 0, timeframe: '24h', limit: 100 }, { min_score: 20, timeframe: '7d', limit: 100 }]; // prettier-ignore
      for (const { min_score = 20, limit = 25, timeframe } of variations as { min_score?: number; limit?: number; timeframe?: string }[]) {
        const from = timeframe === '24h' ? NOW - DAY : timeframe === '7d' ? NOW - 7 * DAY : 0;
        const expected = all.filter((one) => tenth(one.score) >= min_score && one.first >= from).sort((a, b) => tenth(b.score) - tenth(a.score) || (a.wallet < b.wallet ? -1 : 1)); // prettier-ignore
        const sent = { condition_id: market.id, min_score, limit, ...(timeframe && { timeframe }) };
        const answer = await call<OfMarket>(db, 'markets/insiders', now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
        if (typeof answer === 'string' || expected.length === 0) {
          expect([answer, expected.length]).toEqual(['empty_result', 0]);
          continue;
        }
        const shown = expected.slice(0, limit);
        expect(answer.insiders).toEqual(shown.map(insiderRow));
        const suspects = expected.filter(({ score }) => tenth(score) >= 50);
        const flagged = sum(suspects.flatMap(({ positions }) => positions.map(({ bought }) => bought)));
        // Volume is what takers paid: of it flagged wallets have what they took.
        const taken = sum(suspects.map(({ wallet }) => reckoning.taken(`${wallet}|${market.id}`)));
        const counts = new Map<string, number>();
        for (const one of expected) counts.set(outcomeOf(one), (counts.get(outcomeOf(one)) ?? 0) + 1);
        const [dominant] = [...counts].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))[0] as [string, number];
        expect(answer.summary).toEqual({
          total_candidates_scanned: all.length,
          phase1_passed: expect.any(Number),
          avg_insider_score: near(tenth(sum(expected.map(({ score }) => tenth(score))) / expected.length), 0.9),
          highest_score: tenth((expected[0] as Suspicion).score),
          dominant_outcome: dominant,
          flagged_buy_usdc: near(flagged),
          share_of_volume_pct: near((100 * taken) / reckoning.volume(market)),
        });
        expect(answer.summary.phase1_passed as number).toBeGreaterThanOrEqual(timeframe ? 0 : expected.length);
        compared += shown.length;
      }
    }
    expect(compared).toBeGreaterThan(300);
  });

  const outcomeOf = ({ market, positions }: Suspicion): string => market.outcomes[market.tokens.indexOf(positions[0]?.token as string)] as string; // prettier-ignore
  const riskOf = (score: number): string => (score >= 75 ? 'critical' : score >= 50 ? 'high' : score >= 35 ? 'medium' : 'low');

  function insiderRow(one: Suspicion): Row {
    const { wallet, market, score, positions, first } = one;
    const [top] = positions as [(typeof positions)[number]];
    const redeemed = reckoning.of(`${wallet}|${market.id}`).filter(({ side }) => side === 'REDEEM');
    // Winners are redeemed by their number; whatever else is held goes with them.
    const left = redeemed.length === 0 ? top.shares : top.payout === 1 ? Math.max(0, top.shares - sum(redeemed.map(({ size }) => size))) : 0; // prettier-ignore
    return {
      wallet,
      insider_score: tenth(score),
      signals: signalsOf(one),
      outcome: outcomeOf(one),
      net_shares: near(left),
      buy_usdc: near(sum(positions.map(({ bought }) => bought))),
      wallet_age_days: near((NOW - Math.min(...reckoning.fills(wallet).map(({ time }) => time))) / DAY),
      first_trade_timestamp: iso(first),
      avg_entry_price: near(top.paid / top.paidShares),
      won: top.payout === 1 ? true : top.payout === 0 ? false : null,
      realized_pnl_usdc: near(sum(positions.map(({ gain }) => gain))),
      risk_level: riskOf(tenth(score)),
      cluster_id: null,
    };
  }

  /** What the scan of the venue must have found. */
  function found(): Suspicion[] {
    const pairs = new Set(reckoning.positions.map(({ wallet, market }) => `${wallet}|${market.id}`));
    return [...pairs].flatMap((pair) => {
      const [wallet, id] = pair.split('|') as [string, string];
      const bought = sum(reckoning.fills(pair).filter(({ side }) => side === 'BUY').map(({ usdc }) => usdc)); // prettier-ignore
      const one = bought < 1_000 ? null : reckoning.suspicion(wallet, told.markets.get(id) as ToldMarket);
      return one !== null && reckoning.isCandidate(one) && tenth(one.score) >= 20 ? [one] : [];
    });
  }

  test('the scan of the venue keeps whom facts make suspect, and nobody else', async () => {
    const { rows } = await db.pool.query<Row & { wallet: string; condition_id: string; score: string }>('SELECT wallet, condition_id, score, token_id, buy_usdc::float8 AS buy_usdc, first_bet_at, signals FROM pm_insider ORDER BY wallet, condition_id'); // prettier-ignore
    const expected = found().sort((a, b) => (a.wallet + a.market.id < b.wallet + b.market.id ? -1 : 1));
    expect(expected.length).toBeGreaterThan(10);
    expect(rows.map((row) => [row.wallet, row.condition_id])).toEqual(expected.map(({ wallet, market }) => [wallet, market.id]));
    for (const [index, one] of expected.entries()) {
      if (!isTold(one)) continue;
      const { score, wallet, condition_id, ...row } = rows[index] as (typeof rows)[number];
      expect([wallet, condition_id, Number(score)]).toEqual([one.wallet, one.market.id, tenth(one.score)]);
      expect(row).toEqual({ token_id: one.positions[0]?.token, buy_usdc: near(sum(one.positions.map(({ bought }) => bought))), first_bet_at: new Date(one.first), signals: signalsOf(one) }); // prettier-ignore
    }
  });

  interface Candidate { wallet: string; score: number; own: Suspicion[]; age: number; bought: number; wins: number; resolved: number; pnl: number; markets: number } // prettier-ignore

  function candidatesOf(category: string | null): Candidate[] {
    const suspects = found().filter(({ market }) => category === null || market.category === category);
    return [...new Set(suspects.map(({ wallet }) => wallet))].map((wallet) => {
      const own = suspects.filter((one) => one.wallet === wallet).sort((a, b) => tenth(b.score) - tenth(a.score) || (a.market.id < b.market.id ? -1 : 1)); // prettier-ignore
      const flags = own.filter(({ score }) => tenth(score) >= 50).length;
      const fills = reckoning.fills(wallet);
      const ended = reckoning.positions.filter((one) => one.wallet === wallet && one.status !== 'open');
      return {
        wallet,
        own,
        score: Math.min(100, tenth((own[0] as Suspicion).score) + 5 * Math.max(0, flags - 1)),
        age: (NOW - Math.min(...fills.map(({ time }) => time))) / DAY,
        bought: sum(fills.filter(({ side }) => side === 'BUY').map(({ usdc }) => usdc)),
        wins: ended.filter(({ status, gain }) => status === 'resolved' && gain > 1e-9).length,
        resolved: ended.filter(({ status }) => status === 'resolved').length,
        pnl: sum(ended.map(({ gain }) => gain)),
        markets: new Set(fills.map(({ market }) => market)).size,
      };
    });
  }

  const KEYS: Record<string, (one: Candidate) => number> = {
    insider_score: ({ score }) => score,
    total_buy_usdc: ({ bought }) => Math.round(bought * 1e5),
    win_rate: ({ wins, resolved }) => (resolved === 0 ? -1 : wilson(wins, resolved)),
    wallet_age_days: ({ age }) => -age,
  };

  test('wallets/insiders: every figure, by every parameter', async () => {
    let compared = 0;
    for (const category of [null, 'Politics', 'World']) {
      const candidates = candidatesOf(category);
      for (const sort_by of Object.keys(KEYS))
        for (const [min_score, max_wallet_age_days, limit] of [[20, 90, 200], [50, 60, 4], [75, 10, 200]] as const) {
          const key = KEYS[sort_by] as (one: Candidate) => number;
          const expected = candidates
            .filter(({ score, age }) => score >= min_score && age <= max_wallet_age_days)
            .sort((a, b) => key(b) - key(a) || b.score - a.score || (a.wallet < b.wallet ? -1 : 1));
          const sent = { sort_by, min_score, max_wallet_age_days, limit, ...(category && { category }) };
          const answer = await call<OfVenue>(db, 'wallets/insiders', now, sent).then(({ data }) => data, (error: { code: string }) => error.code); // prettier-ignore
          if (typeof answer === 'string' || expected.length === 0) {
            expect([answer, expected.length]).toEqual(['empty_result', 0]);
            continue;
          }
          expect(answer.total_candidates).toBe(expected.length);
          // The p-value is drawn by chance, and has tests of its own.
          expect(answer.candidates.map(({ p_value: _p, ...row }) => row)).toEqual(expected.slice(0, limit).map(candidateRow));
          compared += answer.candidates.length;
        }
    } // prettier-ignore
    expect(compared).toBeGreaterThan(50);
  });

  function candidateRow({ wallet, own, score, age, bought, wins, resolved, pnl, markets }: Candidate): Row {
    const [top] = own as [Suspicion];
    return {
      wallet,
      insider_score: score,
      wallet_age_days: near(age),
      first_trade: iso(NOW - age * DAY),
      markets_traded: markets,
      total_buy_usdc: near(bought),
      category_count: top.categories.length,
      categories: top.categories.map(({ category }) => category),
      win_count: wins,
      total_resolved: resolved,
      win_rate: resolved === 0 ? null : near(wins / resolved),
      win_rate_lb: resolved === 0 ? null : near(wilson(wins, resolved)),
      signals: signalsOf(top),
      risk_level: riskOf(score),
      flagged_markets: own.filter((one) => tenth(one.score) >= 50).map((one) => ({ condition_id: one.market.id, question: one.market.question, outcome: outcomeOf(one), buy_usdc: near(sum(one.positions.map(({ bought }) => bought))), score: tenth(one.score) })), // prettier-ignore
      pnl_usdc: near(pnl),
      cluster_id: null,
    };
  }
});
