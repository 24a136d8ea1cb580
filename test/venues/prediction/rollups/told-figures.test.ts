import { BEGINNING } from '../../../../src/lib/timeframe';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { listEndedGains } from '../../../../src/venues/prediction/queries/ended-gains';
import { listCategories } from '../../../../src/venues/prediction/queries/leader-positions';
import { getPeriodPositions } from '../../../../src/venues/prediction/queries/period-gains';
import { type WalletOverlap, listOverlap } from '../../../../src/venues/prediction/queries/wallet-overlap';
import { listWalletFigures } from '../../../../src/venues/prediction/queries/wallet-figures';
import { type ToldLife, findLifeTotals, findToldLife } from '../../../../src/venues/prediction/queries/wallet-trades';
import { tellWallets } from '../../../../src/venues/prediction/rollups/told-wallets';
import { testDatabase } from '../../../support/database';
import { iso, market, move, now as small, trade } from '../small-world';
import { loadRecords, token, tx, wallet } from '../support';
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

/** Whose sides are even in USDC are in no order. */
const inOrder = ({ reaches, pairs, sides, markets }: WalletOverlap): unknown => [reaches, pairs, sides ?? []].map((list) => list.map((row) => JSON.stringify(row, round)).sort()).concat([[String(markets)]]); // prettier-ignore

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
    const busiest = (await pool.query<{ wallet: string }>('SELECT wallet FROM pm_trade GROUP BY wallet ORDER BY count(*) DESC, wallet')).rows.map(({ wallet }) => wallet); // prettier-ignore
    const scope = { wallets, now, overlay: '[]' };
    /** Everything a wallet did: as told, else from its positions and rows. */
    const lifeOf = async (wallet: string): Promise<unknown> => {
      const kept = await findToldLife(sql, wallet, now);
      if (kept !== null) return kept;
      const own = { ...scope, wallets: [wallet] };
      const { gain, new_positions, closed_positions } = await getPeriodPositions(sql, own, BEGINNING, { condition_id: null, category: null, open_only: false }); // prettier-ignore
      return { ...(await findLifeTotals(sql, own, 10_000)), realized_pnl: gain, new_positions, closed_positions };
    };
    const told = async (): Promise<number> => Number((await pool.query('SELECT count(*) AS n FROM pm_told_wallet')).rows[0].n);
    const answers = async (): Promise<unknown[]> => {
      const windows = [BEGINNING, start, new Date(start.getTime() + 3 * DAY), new Date(start.getTime() + 8 * DAY)];
      const figures = await Promise.all(windows.map((from) => listWalletFigures(sql, scope, { from, to: now }, null)));
      const gains = await Promise.all(
        [null, 'Politics', 'Weather'].flatMap((category) => windows.map((from) => listEndedGains(sql, scope, from, category))),
      );
      const categories = await listCategories(sql, scope);
      const lives = await Promise.all(wallets.map(async (wallet) => ({ wallet, life: await lifeOf(wallet) })));
      // Busy wallets beside such that did little.
      const groups = Array.from({ length: 20 }, (_, n) => [n, n + 1, n + 2, wallets.length - 1 - n, wallets.length - 30 - n].map((place) => busiest[place] as string)); // prettier-ignore
      const overlaps = await Promise.all(
        windows.flatMap((from) => groups.map((some, n) => listOverlap(sql, { ...scope, wallets: some }, { from, to: now }, [null, 2, 1_000][n % 3] as number | null))), // prettier-ignore
      );
      expect(overlaps.some(({ markets, sides }) => markets > 2 && sides !== null && new Set(sides.map(({ condition_id }) => condition_id)).size === 2)).toBe(true); // prettier-ignore
      expect(overlaps.filter(({ pairs }) => pairs.some(({ median_lag, agreeing, shared }) => median_lag !== null && agreeing < shared)).length).toBeGreaterThan(20); // prettier-ignore
      expect(figures[0]?.length).toBeGreaterThan(200);
      return [...figures.map(ordered), ...gains.map(ordered), ordered(categories), ordered(lives), overlaps.map(inOrder)];
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
    // A redemption where nothing was ever held moves no position.
    await tellWallets(pool);
    const one = wallets[0] as string;
    const life = await findToldLife(sql, one, now);
    await loadRecords(pool, 'markets.json', [market(2)]);
    await loadRecords(pool, 'activity.json', [
      { ...move(1, 2, 1, 'REDEEM', 5, 7, 0), proxyWallet: one, timestamp: now.getTime() / 1_000 - 60 },
    ]);
    expect(await findToldLife(sql, one, now)).toBeNull();
    await check();
    await tellWallets(pool);
    const { rows: count, redeem_volume } = (await findToldLife(sql, one, now)) as ToldLife;
    expect([count, Number(redeem_volume)]).toEqual([(life as ToldLife).rows + 1, Number((life as ToldLife).redeem_volume) + 7]);
    // Told with it, the wallet's life does not hold before.
    expect(await findToldLife(sql, one, new Date(now.getTime() - 60_000))).toBeNull();
  });

  test('sides of markets are told anew where another outcome is the first, or is learned to be', async () => {
    const own = await testDatabase();
    try {
      const { pool } = own;
      const swapped = { ...market(8), outcomes: '["No", "Yes"]', clobTokenIds: JSON.stringify([token(8, 1), token(8, 0)]) };
      const nameless = trade(3, 9, 0, 801, 'BUY', 100, 0.5, 5_000);
      await loadRecords(pool, 'markets.json', [market(8)]);
      await loadRecords(pool, 'trades.json', [
        trade(1, 8, 0, 801, 'BUY', 100, 0.5, 6_000),
        trade(2, 8, 1, 802, 'BUY', 100, 0.4, 5_900),
        { ...nameless, outcomeIndex: undefined },
        {
          ...nameless,
          asset: token(9, 1),
          outcome: 'Outcome 1',
          outcomeIndex: undefined,
          proxyWallet: wallet(803),
          transactionHash: tx(4),
        },
      ]);
      const told = async (): Promise<string[]> =>
        (await pool.query<{ wallet: string }>('SELECT wallet FROM pm_told_wallet ORDER BY 1')).rows.map((row) => row.wallet);
      const scope = { wallets: [801, 802, 803].map(wallet), now: small, overlay: '[]' };
      const check = (): Promise<void> => expectSameUntold(pool, async () => inOrder(await listOverlap(sqlOf(pool), scope, { from: BEGINNING, to: small }, 10))); // prettier-ignore
      const productOf = async (a: number, b: number): Promise<number | undefined> =>
        (await listOverlap(sqlOf(pool), scope, { from: BEGINNING, to: small }, null)).pairs.find((pair) => pair.a === wallet(a) && pair.b === wallet(b))?.product; // prettier-ignore
      await tellWallets(pool);
      expect(await told()).toEqual(scope.wallets);
      expect(await productOf(801, 803)).toBe(2_500);
      await check();
      await loadRecords(pool, 'trades.json', [{ ...trade(5, 9, 1, 804, 'BUY', 1, 0.5, 100), outcome: 'Outcome 1' }]);
      expect(await told()).toEqual([wallet(802)]);
      await tellWallets(pool);
      expect(await productOf(801, 803)).toBe(-2_500);
      await check();
      await loadRecords(pool, 'markets.json', [{ ...swapped, updatedAt: iso(small.getTime() / 1_000) }]);
      expect(await told()).toEqual([803, 804].map(wallet));
      await check();
      // Of tokens that no row named, another wallet's row tells the place of one, the catalogue that of the other.
      const bare = { outcome: '', outcomeIndex: undefined };
      await loadRecords(pool, 'trades.json', [
        trade(6, 10, 0, 801, 'BUY', 100, 0.5, 90),
        trade(7, 11, 0, 802, 'BUY', 100, 0.5, 90),
        { ...trade(8, 10, 1, 803, 'BUY', 100, 0.5, 80), ...bare },
        { ...trade(9, 11, 1, 803, 'BUY', 100, 0.5, 80), ...bare },
      ]);
      for (const name of [
        () => loadRecords(pool, 'trades.json', [trade(10, 10, 1, 804, 'BUY', 1, 0.5, 70)]),
        () => loadRecords(pool, 'markets.json', [market(11)]),
      ]) {
        await tellWallets(pool);
        await check();
        await name();
        expect(await told()).not.toContain(wallet(803));
        await check();
      }
    } finally {
      await own.drop();
    }
  });
});
