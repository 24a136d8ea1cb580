import { testDatabase } from '../../../support/database';
import { ask, askForError } from '../ask';
import { loadSmallWorld, now } from '../small-world';
import { loadRecords } from '../support';
import { market } from '../small-world';

type Stats = Record<string, number | string | null>;

describe('platform/stats', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeAll(async () => {
    db = await testDatabase();
  });
  afterAll(() => db.drop());

  const stats = async (timeframe: string, at = now): Promise<Stats> => (await ask<Stats>(db, 'platform/stats', at, { timeframe })).data;

  test('an empty store has no answer; a store with markets but no trades answers zeros', async () => {
    expect((await askForError(db, 'platform/stats', now, { timeframe: 'all' })).code).toBe('empty_result');
    await loadRecords(db.pool, 'markets.json', [market(1)]);
    expect(await stats('24h')).toMatchObject({
      total_volume_usdc: 0,
      total_trades: 0,
      avg_trade_size_usdc: null,
      median_trade_size_usdc: null,
      volume_change_pct: null,
      smart_volume_pct: null,
    });
  });

  test('totals of a day', async () => {
    await loadSmallWorld(db.pool);
    const { data, meta } = await ask<Stats>(db, 'platform/stats', now, { timeframe: '24h' });
    // Takers of the day: 12,000.5, 55, 20, 15,000, 5.2, 3, 3 on market 1; 20,000 and 12,000 on 2; 200 on 3.
    const volume = 27_086.7 + 32_000 + 200;
    expect(data).toEqual({
      timeframe: '24h',
      total_volume_usdc: volume,
      total_trades: 10,
      // Wallets 1 to 6 traded: 6 by a fill and by one that only its history tells.
      active_traders: 6,
      active_markets: 3,
      resolved_markets: 2,
      smart_wallet_count: 2,
      avg_trade_size_usdc: 5_928.67,
      // The day before nothing was traded, the seven days before: 3.5.
      volume_change_pct: null,
      new_traders: 5,
      new_markets: 1,
      active_smart_wallets: 2,
      smart_volume_pct: Number(((100 * (12_000.5 + 61 + 20_000)) / volume).toFixed(6)),
      bot_volume_pct: Number(((100 * 12_000) / volume).toFixed(6)),
      // 3, 3, 5.2, 20, [55, 200], 12,000, 12,000.5, 15,000, 20,000.
      median_trade_size_usdc: 127.5,
    });
    expect(meta).toMatchObject({ timeframe: '24h', count: null, score_version: 'pm-2026.3', window: { to: now } });
  });

  test('longer windows, and the window before', async () => {
    expect(await stats('7d')).toMatchObject({
      total_volume_usdc: 59_290.2,
      total_trades: 11,
      active_traders: 6,
      new_traders: 6,
      volume_change_pct: null,
      new_markets: 1,
    });
    expect(await stats('all')).toMatchObject({
      total_volume_usdc: 59_293.2,
      total_trades: 12,
      active_traders: 7,
      active_markets: 4,
      new_traders: 7,
      new_markets: 3,
      volume_change_pct: null,
    });
    // A day later the only fill is the one that was still to come, against all of today's.
    const later = new Date(now.getTime() + 86_400_000 - 1);
    expect(await stats('24h', later)).toMatchObject({
      total_trades: 1,
      total_volume_usdc: 900_000,
      volume_change_pct: Number(((100 * (900_000 - 59_286.7)) / 59_286.7).toFixed(6)),
    });
    // Of the ninety days before, the last alone are on record.
    expect(await stats('90d', new Date(now.getTime() + 89 * 86_400_000))).toMatchObject({
      total_volume_usdc: expect.any(Number),
      volume_change_pct: null,
    });
  });

  test('nothing of the future counts', async () => {
    const before = new Date(now.getTime() - 8 * 3_600_000);
    expect(await stats('all', before)).toMatchObject({
      total_trades: 3,
      active_traders: 3,
      active_markets: 2,
      resolved_markets: 0,
      new_markets: 2,
      smart_wallet_count: 2,
    });
    // The run of the day before: one wallet with 90, nobody tagged.
    expect(await stats('all', new Date(Date.UTC(2026, 2, 9, 23)))).toMatchObject({
      smart_wallet_count: 1,
      active_smart_wallets: 1,
      bot_volume_pct: 0,
    });
    expect((await askForError(db, 'platform/stats', new Date('2025-01-01T00:00:00Z'), { timeframe: 'all' })).code).toBe('empty_result');
  });
});
