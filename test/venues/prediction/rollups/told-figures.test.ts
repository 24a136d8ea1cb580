import { BEGINNING } from '../../../../src/lib/timeframe';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { listEndedGains } from '../../../../src/venues/prediction/queries/ended-gains';
import { listCategories } from '../../../../src/venues/prediction/queries/leader-positions';
import { listWalletFigures } from '../../../../src/venues/prediction/queries/wallet-figures';
import { tellWallets } from '../../../../src/venues/prediction/rollups/told-wallets';
import { testDatabase } from '../../../support/database';
import { iso, market } from '../small-world';
import { loadRecords } from '../support';
import { expectSameUntold, sqlOf } from './untold';

const DAY = 86_400_000;
const start = new Date('2026-02-01T00:00:00Z');
const now = new Date(start.getTime() + 10 * DAY);

/** Floats are added up in any order; how many zeros end an exact amount says nothing. */
const round = (_: string, value: unknown): unknown => {
  if (typeof value === 'number') return Number(value.toFixed(9));
  return typeof value === 'string' && /^-?\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '') : value;
};
const ordered = <Row extends { wallet: string; category?: string | null }>(rows: readonly Row[]): unknown =>
  JSON.parse(JSON.stringify(rows.map((row) => JSON.stringify({ ...row, first_ended_at: undefined }, round)).sort()));

describe('figures of wallets, told', () => {
  let database: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(() => database.drop());

  test('answer as their positions do for every window they hold in, and are taken out by whatever changes one', async () => {
    const { pool } = database;
    const sql = sqlOf(pool);
    for (const page of predictionWorld({ seed: 8, size: 4_000, start }).pages(start, new Date(start.getTime() + 9 * DAY)))
      await loadRecords(pool, page.name, page.records, page.format);
    const wallets = (await pool.query<{ wallet: string }>('SELECT wallet FROM pm_wallet ORDER BY 1')).rows.map(({ wallet }) => wallet);
    const scope = { wallets, now, overlay: '[]' };
    const told = async (): Promise<number> => Number((await pool.query('SELECT count(*) AS n FROM pm_told_wallet')).rows[0].n);
    const answers = async (): Promise<unknown[]> => {
      const windows = [BEGINNING, start, new Date(start.getTime() + 3 * DAY), new Date(start.getTime() + 8 * DAY)];
      const figures = await Promise.all(windows.map((from) => listWalletFigures(sql, scope, { from, to: now }, null)));
      const gains = await Promise.all(
        [null, 'Politics', 'Weather'].flatMap((category) => windows.map((from) => listEndedGains(sql, scope, from, category))),
      );
      const categories = await listCategories(sql, scope);
      expect(figures[0]?.length).toBeGreaterThan(200);
      return [...figures.map(ordered), ...gains.map(ordered), ordered(categories)];
    };
    const check = (): Promise<void> => expectSameUntold(pool, answers);
    await tellWallets(pool);
    expect(await told()).toBe(wallets.length);
    await check();
    const { rows } = await pool.query<{ condition_id: string; tags: string[]; question: string }>(
      'SELECT condition_id, tags, question FROM pm_market JOIN pm_position USING (condition_id) WHERE event_slug IS NOT NULL GROUP BY condition_id ORDER BY count(*) DESC LIMIT 1',
    );
    const [{ condition_id, tags }] = rows as [(typeof rows)[number]];
    // Another event, the category as before.
    await loadRecords(pool, 'markets.json', [
      {
        ...market(1),
        conditionId: condition_id,
        tags: tags.map((slug) => ({ slug })),
        events: [{ slug: 'another-event' }],
        updatedAt: iso(now.getTime() / 1_000),
      },
    ]);
    expect(await told()).toBeLessThan(wallets.length);
    await check();
  }, 120_000);
});
