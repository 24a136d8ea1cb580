import type { Pool } from 'pg';
import type { Sql } from '../../../../src/db/sql';
import { inTransaction } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { randomOf } from '../../../../src/sandbox/simulator/world';
import { type ParticipantTier, listParticipants } from '../../../../src/venues/prediction/queries/market-participants';
import { rebuildHours } from '../../../../src/venues/prediction/rollups/hours';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { forgetParticipantsOf, tellParticipants } from '../../../../src/venues/prediction/rollups/told-participants';
import { score } from '../../../../src/venues/prediction/scoring/job';
import { testDatabase } from '../../../support/database';
import { NOW, now as small_now, trade } from '../small-world';
import { condition, loadRecords } from '../support';
import { sqlOf } from './untold';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 6 * DAY + 17.3 * HOUR);
const after = (days: number): Date => new Date(start.getTime() + days * DAY);

let database: Awaited<ReturnType<typeof testDatabase>>;
let pool: Pool;
beforeEach(async () => {
  database = await testDatabase();
  pool = database.pool;
});
afterEach(() => database.drop());

interface Fill {
  condition_id: string;
  token_id: string;
  wallet: string;
  timestamp: Date;
  side: 'BUY' | 'SELL';
  size: string;
  usdc_size: string;
}

const micros = (amount: string): number => Math.round(Number(amount) * 1e6);
const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
const usdc = (fills: readonly Fill[]): number => sum(fills.map(({ usdc_size }) => micros(usdc_size)));
const tierOf = (points: number | null): string =>
  points === null ? 'unscored' : points >= 80 ? 'elite' : points >= 60 ? 'smart' : points >= 40 ? 'average' : 'novice';

/** Who traded each market before an instant, from plain facts. */
async function fromFacts(at: Date, day: string): Promise<Map<string, string[]>> {
  const { rows: all } = await pool.query<Fill>(`SELECT * FROM pm_trade WHERE side IN ('BUY', 'SELL') ORDER BY "timestamp"`);
  const { rows: scores } = await pool.query<{ wallet: string; score: string | null; machine: boolean }>(
    `SELECT wallet, score, tags && ARRAY['market_maker', 'hft_bot', 'wash'] AS machine FROM pm_wallet_score WHERE day = $1`,
    [day],
  );
  const judged = new Map(scores.map((row) => [row.wallet, row]));
  const pointsOf = (who: string): number | null => (judged.get(who)?.score == null ? null : Number(judged.get(who)?.score));
  const firsts = new Map<string, number>();
  for (const fill of all) if (!firsts.has(fill.wallet)) firsts.set(fill.wallet, fill.timestamp.getTime());
  const told = new Map<string, string[]>();
  for (const condition_id of new Set(all.map((fill) => fill.condition_id))) {
    const own = all.filter((fill) => fill.condition_id === condition_id && fill.timestamp < at);
    const lines: string[] = [];
    for (const token_id of [null, ...new Set(own.map((fill) => fill.token_id))])
      for (const tier of ['elite', 'smart', 'average', 'novice', 'unscored']) {
        const fills = own.filter((fill) => (token_id === null || fill.token_id === token_id) && tierOf(pointsOf(fill.wallet)) === tier);
        const wallets = [...new Set(fills.map((fill) => fill.wallet))];
        if (wallets.length === 0) continue;
        const of = (who: string): Fill[] => fills.filter((fill) => fill.wallet === who);
        const buys = fills.filter(({ side }) => side === 'BUY');
        const points = wallets.map(pointsOf).filter((one) => one !== null);
        const machines = wallets.filter((who) => judged.get(who)?.machine === true);
        lines.push(
          JSON.stringify(
            token_id === null
              ? [tier, wallets.length, usdc(fills), wallets.filter((who) => of(who)[0]?.timestamp.getTime() === firsts.get(who)).length, machines.length, sum(machines.map((who) => usdc(of(who)))), wallets.map((who) => usdc(of(who))).sort((a, b) => a - b)]
              : [tier, wallets.length, usdc(fills), token_id, usdc(buys), sum(buys.map(({ size }) => micros(size))), Math.round(10 * sum(points)), points.length],
          ), // prettier-ignore
        );
      }
    told.set(condition_id, lines.sort());
  }
  return told;
}

const lineOf = (row: ParticipantTier): string =>
  JSON.stringify([
    row.tier,
    row.wallets,
    micros(row.usdc),
    ...(row.token_id === null
      ? [row.new_wallets, row.machines, micros(row.machines_usdc), row.bets.map((bet) => Math.round(bet * 1e6)).sort((a, b) => a - b)]
      : [row.token_id, micros(row.buy_usdc), micros(row.buy_shares), Math.round(10 * Number(row.scores ?? 0)), row.scored]),
  ]);

/** Names of the statements that were sent. */
const sent = new Map<string, number>();
const counting = (): Sql => ({
  query: (statement, values) => {
    sent.set(statement.name, (sent.get(statement.name) ?? 0) + 1);
    return sqlOf(pool).query(statement, values);
  },
});

/** Asks of every market as of these instants; expects what facts say, and tells how often all was added up, and how often since it was told. */
async function check(day: string, instants: readonly Date[]): Promise<{ reckoned: number; since: number; markets: number }> {
  sent.clear();
  let markets = 0;
  for (const at of instants) {
    const facts = await fromFacts(at, day);
    markets += facts.size;
    for (const [condition_id, lines] of facts)
      expect((await listParticipants(counting(), condition_id, at, day)).map(lineOf).sort()).toEqual(lines);
  }
  return { reckoned: sent.get('pm_participants') ?? 0, since: sent.get('pm_participants_since') ?? 0, markets };
}

const told = async (): Promise<number> => Number((await pool.query('SELECT count(*) AS n FROM pm_told_participants')).rows[0].n);

test('participants are those of the facts: told, traded since, late facts, fills taken back, a new run, a rebuild', async () => {
  const random = randomOf(7, 'order');
  const pages = [...predictionWorld({ seed: 8, size: 2_500, start }).pages(start, after(7))];
  const load = async (some: typeof pages): Promise<void> => {
    const ordered = some.map((page) => ({ page, at: random() })).sort((a, b) => a.at - b.at);
    for (const { page } of ordered) await loadRecords(pool, page.name, page.records, page.format);
  };
  const late = (index: number): boolean => index % 9 === 4;
  const half = Math.floor(pages.length * 0.7);
  await load(pages.slice(0, half).filter((_, index) => !late(index)));
  await score(pool, after(4.6), () => undefined);
  // More points and machines than so small a world has.
  await pool.query(
    `UPDATE pm_wallet_score SET score = CASE abs(hashtext(wallet)) % 5 WHEN 4 THEN NULL ELSE 25 + 20 * (abs(hashtext(wallet)) % 5) END, tags = CASE WHEN abs(hashtext(wallet)) % 7 = 0 THEN ARRAY['wash'] ELSE ARRAY[]::text[] END`,
  );
  const day = '2026-02-05';
  const instants = [after(4.6), after(5), new Date(after(5).getTime() + 7.37 * HOUR + 1), now];
  expect(await told()).toBe(0);
  const untold = await check(day, instants);
  expect(untold.reckoned).toBe(untold.markets);
  await tellParticipants(pool, after(4.6), 1);
  const markets = await told();
  expect(markets).toBeGreaterThan(5);
  const kept = await check(day, instants);
  expect(kept.reckoned).toBe(0);
  // Before it was told nothing is known of it.
  const before = await check(day, [after(4.5)]);
  expect(before.reckoned).toBe(before.markets);
  await load(pages.slice(half));
  const later = await check(day, instants);
  expect(later.since).toBeGreaterThan(10);
  expect(later.reckoned).toBeLessThan(later.markets / 2);
  await load(pages.slice(0, half).filter((_, index) => late(index)));
  expect(await told()).toBeLessThan(markets);
  await check(day, instants);
  await tellParticipants(pool, after(5), 1);
  await inTransaction(pool, (client) => retractFills(client, { from: after(2.4), to: after(2.6) }));
  await check(day, instants);
  await tellParticipants(pool, after(5), 1);
  // Whoever is taken out just after it was asked what is told is added up.
  const [one] = [...(await fromFacts(now, day))];
  const gone: Sql = {
    query: async (statement, values) => {
      const rows = await sqlOf(pool).query(statement, values);
      if (statement.name === 'pm_told_participants')
        await pool.query('DELETE FROM pm_told_participants WHERE condition_id = $1', [one?.[0]]);
      return rows as never;
    },
  };
  expect((await listParticipants(gone, one?.[0] as string, now, day)).map(lineOf).sort()).toEqual(one?.[1]);
  await score(pool, after(4.8), () => undefined);
  await check(day, instants);
  await score(pool, after(5.9), () => undefined);
  await tellParticipants(pool, after(5.9), 1);
  expect((await check('2026-02-06', [after(5.9), now])).reckoned).toBe(0);
  await check(day, [after(5.9)]);
  // Told while the run that judges them is written anew.
  await inTransaction(pool, (client) => forgetParticipantsOf(client, '2026-02-06'));
  let telling: Promise<void> | undefined;
  await inTransaction(pool, async (client) => {
    await client.query("UPDATE pm_wallet_score SET score = 45 WHERE day = '2026-02-06'");
    await forgetParticipantsOf(client, '2026-02-06');
    telling = tellParticipants(pool, after(5.9), 1);
    // Long enough for who waits for nobody.
    await Promise.race([telling, new Promise((resolve) => setTimeout(resolve, 2_000))]);
  });
  await telling;
  expect((await check('2026-02-06', [now])).reckoned).toBe(0);
  await inTransaction(pool, rebuildHours);
  expect(await told()).toBe(0);
});

test('whoever traded elsewhere before is no longer new on a market, though nothing late came there; a few more fills are not told again, a tenth more are', async () => {
  const ago = (hours: number): number => hours * 3_600;
  await loadRecords(pool, 'trades.json', [
    ...Array.from({ length: 30 }, (_, n) => trade(n, 1, 0, 1 + (n % 3), 'BUY', 10, 0.5, ago(30) - n)),
    trade(40, 2, 0, 2, 'BUY', 10, 0.5, ago(29)),
  ]);
  await score(pool, new Date((NOW - ago(20)) * 1_000), () => undefined);
  const run = new Date((NOW - ago(20)) * 1_000).toISOString().slice(0, 10);
  await tellParticipants(pool, new Date((NOW - ago(20)) * 1_000), 20);
  expect(await told()).toBe(1);
  const newOf = async (): Promise<number> =>
    (await listParticipants(sqlOf(pool), condition(1), small_now, run)).reduce(
      (all, row) => all + (row.token_id === null ? row.new_wallets : 0),
      0,
    );
  expect(await newOf()).toBe(3);
  await loadRecords(pool, 'trades.json', [trade(41, 2, 0, 3, 'BUY', 10, 0.5, ago(40)), trade(42, 2, 0, 4, 'BUY', 10, 0.5, ago(41))]);
  expect(await newOf()).toBe(2);
  const untilOf = async (): Promise<string[]> =>
    (await pool.query<{ until: Date }>('SELECT until FROM pm_told_participants')).rows.map(({ until }) => until.toISOString());
  const tell = (hours: number): Promise<void> => tellParticipants(pool, new Date((NOW - ago(hours)) * 1_000), 20);
  await tell(20);
  const first = await untilOf();
  expect(first).toEqual([new Date((NOW - ago(20)) * 1_000).toISOString()]);
  await loadRecords(
    pool,
    'trades.json',
    [50, 51, 52].map((n) => trade(n, 1, 1, 5, 'SELL', 10, 0.5, ago(15) - n)),
  );
  await tell(14);
  expect(await untilOf()).toEqual(first);
  const rows = await listParticipants(sqlOf(pool), condition(1), small_now, run);
  expect(rows.filter(({ token_id }) => token_id === null).reduce((all, { wallets }) => all + wallets, 0)).toBe(4);
  expect(await newOf()).toBe(3);
  await loadRecords(pool, 'trades.json', [trade(53, 1, 1, 5, 'SELL', 10, 0.5, ago(13))]);
  await tell(12);
  expect(await untilOf()).toEqual([new Date((NOW - ago(12)) * 1_000).toISOString()]);
  expect(await newOf()).toBe(3);
});
