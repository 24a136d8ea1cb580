import fs from 'node:fs';
import path from 'node:path';
import { testDatabase } from '../../support/database';
import {
  historyOf,
  listedTokenOf,
  pairInfoOf,
  type RecordedClosedPosition,
  type RecordedPool,
  type RecordedToken,
} from '../../support/converters/lp/recorded';
import { testWithRealData } from '../../support/real-data';
import { ask } from './ask';
import { loadRecords, readNdjson } from './load';

// Recorded files of the upstreams, brought into the upstreams' own formats where an author had columns of his own.

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  db = await testDatabase();
});
afterAll(() => db.drop());

type Row = Record<string, unknown>;
const rows = async (text: string): Promise<Row[]> => (await db.pool.query<Row>(text)).rows;

testWithRealData(
  'the catalogue of September 2024: every pool and every token, once',
  'real/pools/dlmm-pools-2024-09-22.ndjson.gz',
  async (file) => {
    const recorded = await readNdjson<RecordedPool>(file);
    const pairs = recorded.map(pairInfoOf);
    expect(new Set(recorded.map((row) => row.address)).size).toBe(19_726);
    expect(await loadRecords(db.pool, 'pair_all_2024-09-22.json', pairs)).toEqual({
      read: 19_726,
      inserted: 19_726,
      duplicates: 0,
      skipped: {},
    });
    expect(await loadRecords(db.pool, 'pair_all_2024-09-22.json', pairs)).toEqual({
      read: 19_726,
      inserted: 0,
      duplicates: 19_726,
      skipped: {},
    });
    const listed = await readNdjson<RecordedToken>(path.join(path.dirname(file), 'token-list-2024-09-22.ndjson.gz'));
    expect(await loadRecords(db.pool, 'tokens_2024-09-22.json', listed.map(listedTokenOf))).toEqual({
      read: 6_765,
      inserted: 6_765,
      duplicates: 0,
      skipped: {},
    });
    expect(await loadRecords(db.pool, 'tokens_2024-09-22.json', listed.map(listedTokenOf))).toMatchObject({
      inserted: 0,
      duplicates: 6_765,
    });

    const symbols = new Map(listed.map((token) => [token.mint, token.symbol.toLowerCase()]));
    const isSol = (mint: string): boolean => mint === 'So11111111111111111111111111111111111111112';
    const isUsdc = (mint: string): boolean => symbols.get(mint) === 'usdc';
    const exact = recorded
      .filter(({ mintX, mintY }) => (isSol(mintX) && isUsdc(mintY)) || (isSol(mintY) && isUsdc(mintX)))
      .map((row) => row.address);
    const { data } = await ask<Row[]>(db, 'lp/pools/search', new Date('2024-09-23T00:00:00Z'), { query: 'SOL-USDC', limit: 50 });
    expect(exact.length).toBeGreaterThan(20);
    const found = data.filter((row) => row.match === 'exact').map((row) => row.pool_address);
    expect(found).toEqual(
      [...exact]
        .sort()
        .slice(0, 50)
        .filter((address) => found.includes(address)),
    );
    expect(found.length).toBe(Math.min(50, exact.length));
    expect(data[0]).toMatchObject({ token_x: 'SOL', token_y: 'USDC', volume_usd: null, event_count: 0, created_at: null });
  },
  300_000,
);

testWithRealData(
  'four transactions of 2023 and 2024: two swaps of known pools worth what was paid, six events of two recurring orders',
  'samples/pools/solana-tx/decoded-events.json',
  async (file) => {
    const folder = path.dirname(file);
    for (const name of fs.readdirSync(folder).filter((other) => other !== path.basename(file))) {
      const record: unknown = JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8'));
      const events = name.startsWith('dca') ? 3 : 1;
      expect(await loadRecords(db.pool, name, [record])).toEqual({ read: events, inserted: events, duplicates: 0, skipped: {} });
      expect(await loadRecords(db.pool, name, [record])).toEqual({ read: events, inserted: 0, duplicates: events, skipped: {} });
    }
    expect(await rows('SELECT kind, count(*)::int AS n FROM dca_event GROUP BY kind ORDER BY kind')).toEqual([
      { kind: 'fee', n: 2 },
      { kind: 'filled', n: 2 },
      { kind: 'withdraw', n: 2 },
    ]);
    const swaps = await rows('SELECT usd::float8, fee_usd::float8, amount_out::float8 FROM lp_swap ORDER BY usd DESC');
    expect(swaps).toEqual([
      { usd: 2000, fee_usd: 1.056781, amount_out: 9.903412546 },
      { usd: 1536.598108, fee_usd: 0.774015, amount_out: 7.582263839 },
    ]);
    // 2,000 USDC bought 9.9034 SOL less a fee of 0.05 %: the bin's price is within it.
    const [sol] = await rows(
      `SELECT usd::float8 FROM token_price WHERE mint = 'So11111111111111111111111111111111111111112' AND source = 2`,
    );
    expect(Math.abs((sol?.usd as number) / (2000 / 9.903412546) - 1)).toBeLessThan(0.001);
    const { data } = await ask<Row[]>(db, 'lp/pools/events', new Date('2024-03-19T00:00:00Z'), {
      pool_address: 'FoSDw2L5DmTuQTFe55gWPDXf88euaxAEKFre74CnvQbX',
      event_type: 'swap',
    });
    expect(data).toMatchObject([
      {
        Owner: '71WDyyCsZwyEYDV91Qrb212rdg6woCHYQhFnmZUBxiJ6',
        UsdTotal: 2000,
        TokenX: 'SOL',
        TokenY: 'USDC',
        AmountX: -9.903412546,
        AmountY: 2000,
        EventType: 'Swap',
      },
    ]);
  },
);

testWithRealData(
  'positions that bots closed in summer 2026: each deposit, withdrawal and claim in every answer',
  'real/pools/lp-closed-positions-pnl-2026-06_2026-07.ndjson.gz',
  async (file) => {
    const recorded = await readNdjson<RecordedClosedPosition>(file);
    const histories = recorded.map(historyOf).filter((answer) => answer !== null);
    const events = histories.length * 3;
    expect(events).toBeGreaterThan(1_000);
    expect(await loadRecords(db.pool, 'historical.ndjson', histories, 'ndjson')).toEqual({
      read: events,
      inserted: events,
      duplicates: 0,
      skipped: {},
    });
    expect(await loadRecords(db.pool, 'historical.ndjson', histories, 'ndjson')).toMatchObject({ inserted: 0, duplicates: events });
    const used = recorded.filter((row) => historyOf(row) !== null);
    const deposits = used.reduce((sum, row) => sum + BigInt(row.initial_value_usd.toFixed(6).replace('.', '')), 0n);
    const { data } = await ask<Row>(db, 'lp/platform/stats', new Date('2026-08-01T00:00:00Z'), { timeframe: 'all', pool_type: 'dlmm' });
    expect(data).toMatchObject({
      total_events: events,
      active_lps: 1,
      active_pools: new Set(used.map((row) => row.pool)).size,
      deposits_usd: Number(deposits) / 1e6,
      new_lps: 1,
    });
    // SOL of each minute as the ledger's own rate says it.
    const row = used.find((other) => other.sol_usd_at_close !== undefined) as RecordedClosedPosition;
    const [price] = await rows(
      `SELECT usd::float8 FROM token_price WHERE source = 1 AND minute = date_trunc('minute', '${row.closed_at_meteora as string}'::timestamptz)`,
    );
    expect(Math.abs((price?.usd as number) / (row.sol_usd_at_close as number) - 1)).toBeLessThan(0.01);
  },
);
