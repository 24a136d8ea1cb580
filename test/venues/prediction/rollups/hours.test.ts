import type { Pool } from 'pg';
import { inTransaction } from '../../../../src/db/transaction';
import { predictionWorld } from '../../../../src/sandbox/simulator/prediction';
import { randomOf } from '../../../../src/sandbox/simulator/world';
import { rebuildHours } from '../../../../src/venues/prediction/rollups/hours';
import { retractFills } from '../../../../src/venues/prediction/rollups/retract';
import { testDatabase } from '../../../support/database';
import { move, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';

type Rows = Record<string, unknown>[];

/** The tables whole, numbers as plain texts without idle zeros. */
async function hours(pool: Pool): Promise<{ tokens: Rows; lasts: Rows; days: Rows; quarters: Rows; totals: Rows; wallets: Rows }> {
  const read = async (table: string, order: string): Promise<Rows> => {
    const { rows } = await pool.query<Record<string, unknown>>(`SELECT * FROM ${table} ORDER BY ${order}`);
    return rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          typeof value === 'string' && /^-?\d+\.\d+$/.test(value) ? value.replace(/\.?0+$/, '') : value,
        ]),
      ),
    );
  };
  return {
    tokens: await read('pm_token_hour', 'condition_id, token_id, hour'),
    lasts: await read('pm_token_last', 'condition_id, token_id'),
    days: await read('pm_market_day', 'condition_id, day'),
    quarters: await read('pm_market_quarter', 'condition_id, quarter'),
    totals: await read('pm_market_total', 'condition_id'),
    wallets: await read('pm_wallet_hour', 'condition_id, hour, token_id, wallet'),
  };
}

const rebuild = (pool: Pool): Promise<void> => inTransaction(pool, rebuildHours);

describe('hours', () => {
  const databases: Awaited<ReturnType<typeof testDatabase>>[] = [];
  const database = async (): Promise<Awaited<ReturnType<typeof testDatabase>>> => {
    const made = await testDatabase();
    databases.push(made);
    return made;
  };
  afterAll(() => Promise.all(databases.map((db) => db.drop())));

  test('one hour by hand: prices of all fills, volume of takers, moves beside them', async () => {
    const { pool } = await database();
    await loadRecords(pool, 'trades.json', [
      trade(1, 1, 0, 1, 'BUY', 100, 0.5, 50),
      trade(2, 1, 0, 2, 'SELL', 40, 0.6, 40),
      trade(3, 1, 1, 1, 'BUY', 10, 0.3, 4_000),
    ]);
    await loadRecords(pool, 'activity.json', [
      { ...trade(4, 1, 0, 3, 'BUY', 10, 0.45, 30), type: 'TRADE' },
      move(5, 1, 1, 'SPLIT', 20, 20, 20),
      move(6, 1, 1, 'MERGE', 5, 5, 10),
      move(7, 1, 1, 'REDEEM', 0, 0, 5),
    ]);
    const { tokens, lasts, days, totals, wallets } = await hours(pool);
    expect(tokens).toHaveLength(2);
    expect(tokens.find((row) => row.token_id === token(1, 0))).toMatchObject({
      condition_id: condition(1), hour: new Date('2026-03-10T11:00:00Z'), fills: 3, fill_usdc: '78.5', fill_shares: '150', buys: 1, sells: 1, buy_usdc: '50', sell_usdc: '24', shares: '140',
      open: '0.5', high: '0.6', low: '0.45', close: '0.45', close_at: new Date('2026-03-10T11:59:30Z'),
    }); // prettier-ignore
    expect(lasts).toEqual(
      tokens.map(({ condition_id, token_id, close, close_at, close_id }) => ({ condition_id, token_id, close, close_at, close_id })),
    );
    expect(days).toMatchObject([{ condition_id: condition(1), fills: 4, buys: 2, sells: 1, buy_usdc: '53', sell_usdc: '24', first_at: new Date('2026-03-10T10:53:20Z'), last_at: new Date('2026-03-10T11:59:30Z') }]); // prettier-ignore
    expect(totals).toMatchObject([{ condition_id: condition(1), fills: 4, first_at: new Date('2026-03-10T10:53:20Z'), last_at: new Date('2026-03-10T11:59:30Z') }]); // prettier-ignore
    const own = (token_id: string, hour: string): Record<string, unknown> | undefined =>
      wallets.find((row) => row.wallet === wallet(1) && row.token_id === token_id && (row.hour as Date).toISOString().startsWith(hour));
    expect(own(token(1, 0), '2026-03-10T11')).toMatchObject({
      buys: 1,
      sells: 0,
      taker_buys: 1,
      buy_usdc: '50',
      buy_shares: '100',
      taker_usdc: '50',
      sets: '0',
      first_buy_at: new Date('2026-03-10T11:59:10Z'),
    });
    expect(own('', '2026-03-10T11')).toMatchObject({
      buys: 0,
      sets: '15',
      redeems: 1,
      first_buy_at: null,
      last_at: new Date('2026-03-10T11:59:55Z'),
    });
    expect(own(token(1, 1), '2026-03-10T10')).toMatchObject({ buys: 1, buy_usdc: '3' });
    expect(wallets.find((row) => row.wallet === wallet(3))).toMatchObject({ buys: 1, taker_buys: 0, taker_usdc: '0' });
  });

  test('a fill that another feed completes counts once, whichever came first', async () => {
    const fill = trade(1, 1, 0, 1, 'BUY', 100, 0.5, 50);
    const told = { ...fill, type: 'TRADE', usdcSize: 50.25 };
    const worlds: Awaited<ReturnType<typeof hours>>[] = [];
    for (const order of [['trades', 'activity'], ['activity', 'trades'], ['activity', 'trades', 'activity', 'trades']]) {
      const { pool } = await database();
      for (const feed of order) await loadRecords(pool, `${feed}.json`, [feed === 'trades' ? fill : told]);
      worlds.push(await hours(pool));
    } // prettier-ignore
    expect(worlds[0]?.tokens).toEqual([
      expect.objectContaining({ fills: 1, buys: 1, fill_usdc: '50.25', buy_usdc: '50.25', shares: '100' }),
    ]);
    expect(worlds[0]?.wallets).toEqual([expect.objectContaining({ buys: 1, taker_buys: 1, buy_usdc: '50.25', taker_usdc: '50.25' })]);
    expect(worlds[1]).toEqual(worlds[0]);
    expect(worlds[2]).toEqual(worlds[0]);
  });

  test('kept as facts arrive, shuffled, doubled and late: the same as made anew', async () => {
    const start = new Date('2026-02-01T00:00:00Z');
    const [inOrder, shuffled] = [await database(), await database()];
    const pages = [...predictionWorld({ seed: 5, size: 3_000, start }).pages(start, new Date(start.getTime() + 10 * 86_400_000))];
    for (const page of pages) await loadRecords(inOrder.pool, page.name, page.records, page.format);
    const random = randomOf(3, 'order');
    const late = [...pages, ...pages.filter((_, index) => index % 3 === 0)]
      .map((page) => ({ page, at: random() }))
      .sort((a, b) => a.at - b.at);
    for (const { page } of late)
      await loadRecords(
        shuffled.pool,
        page.name,
        [...page.records].sort(() => random() - 0.5),
        page.format,
      );
    const kept = await hours(shuffled.pool);
    expect(kept.tokens.length).toBeGreaterThan(200);
    expect(kept.wallets.length).toBeGreaterThan(500);
    expect(kept.lasts.map(({ token_id }) => token_id)).toEqual([...new Set(kept.tokens.map(({ token_id }) => token_id))]);
    expect(kept).toEqual(await hours(inOrder.pool));
    await rebuild(shuffled.pool);
    expect(await hours(shuffled.pool)).toEqual(kept);
    const last = { from: new Date(start.getTime() + 9.3 * 86_400_000), to: new Date(start.getTime() + 10 * 86_400_000) };
    await inTransaction(shuffled.pool, (client) => retractFills(client, last));
    const left = await hours(shuffled.pool);
    expect(left.lasts).not.toEqual(kept.lasts);
    await rebuild(shuffled.pool);
    expect(await hours(shuffled.pool)).toEqual(left);
  });
});
