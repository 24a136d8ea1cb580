import { inTransaction } from '../../../../src/db/transaction';
import { emptyMeta, makeContext } from '../../../../src/graph/context';
import { prediction } from '../../../../src/venues/prediction/index';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { buildSnapshots } from '../../../../src/workers/snapshots';
import { runScores } from '../../../../src/workers/scores';
import { testDatabase } from '../../../support/database';
import { call, callForError } from '../markets/call';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, wallet } from '../support';

/** Wallet 501 begins with $1,500 on a quiet market, and is found; the day after $2,000,000 are taken there, and nobody is found any more. */

const [HOUR, DAY] = [3_600, 86_400];
const later = new Date((NOW + DAY) * 1_000);

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  db = await testDatabase();
  await loadRecords(db.pool, 'markets.json', [market(81, { tags: [{ slug: 'politics' }], endDate: iso(NOW + 80 * HOUR) })]);
  await loadRecords(db.pool, 'trades.json', [
    trade(1, 81, 0, 502, 'BUY', 300, 0.5, 9 * DAY),
    trade(2, 81, 0, 501, 'BUY', 3_000, 0.5, 4 * HOUR),
  ]);
});
afterEach(() => db.drop());

test('who was found by the run of the day before is no candidate once a run finds nobody', async () => {
  await runScores(db.pool, prediction, now, () => undefined);
  const scoreAt = async (at: Date): Promise<unknown> =>
    (await call<{ profile: { insider_score: unknown } }>(db, 'wallets/profile', at, { wallet: wallet(501) })).data.profile.insider_score;
  const { data } = await call<{ candidates: { wallet: string }[] }>(db, 'wallets/insiders', now, { min_score: 20 });
  expect([data.candidates.map((row) => row.wallet), await scoreAt(now)]).toEqual([[wallet(501)], expect.any(Number)]);

  await loadRecords(db.pool, 'more.json', [trade(3, 81, 0, 503, 'BUY', 4_000_000, 0.5, -2 * HOUR)]);
  // A scan between two runs that finds nobody says so as well.
  const sooner = new Date(later.getTime() - HOUR * 1_000);
  const build = (at: Date): Promise<void> => buildSnapshots(db.pool, prediction, () => ({ ...makeContext(db, at), meta: emptyMeta() }));
  await build(sooner);
  expect((await callForError(db, 'wallets/insiders', sooner, { min_score: 20 })).code).toBe('empty_result');
  expect([await scoreAt(new Date(sooner.getTime() - 1)), await scoreAt(sooner)]).toEqual([expect.any(Number), null]);
  await runScores(db.pool, prediction, later, () => undefined);
  await build(later);
  expect(await scoreAt(later)).toBeNull();
  expect((await callForError(db, 'wallets/insiders', later, { min_score: 20 })).code).toBe('empty_result');
  // What was found then is found as of then.
  expect(await scoreAt(now)).toEqual(expect.any(Number));
});

test('whose fills are all taken back while a market is scanned is not listed', async () => {
  const asked = { condition_id: condition(81), min_score: 20 };
  const listed = async (): Promise<unknown[]> => {
    const { data, meta } = await call<{ insiders: { wallet: string }[] }>(db, 'markets/insiders', now, asked);
    return [meta.count, ...data.insiders.map((row) => row.wallet)];
  };
  expect(await listed()).toEqual([2, wallet(501), wallet(502)]);

  const since = new Date((NOW - 5 * HOUR) * 1_000);
  db.keyed.on('acquire', (client) => {
    const query = client.query.bind(client) as (...given: unknown[]) => Promise<unknown>;
    const tooLate = async (...given: [{ name?: string }]): Promise<unknown> => {
      if (given[0].name?.startsWith('pm_market_bought') === true)
        await inTransaction(db.pool, (writer) => retractFills(writer, { from: since, to: now }));
      return query(...given);
    };
    Object.assign(client, { query: tooLate });
  });
  expect(await listed()).toEqual([1, wallet(502)]);
});
