import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { type DuplicateTrade, tradeOfDuplicate } from '../../support/converters/prediction/duplicates-2023';
import { type LargeBuy, tokensOf, tradeOfLargeBuy } from '../../support/converters/prediction/large-buys';
import { type TaggedMarket, marketOfTagged } from '../../support/converters/prediction/tagged-markets';
import { testDatabase } from '../../support/database';
import { realData, testWithRealData } from '../../support/real-data';
import { ask } from './ask';
import { loadFile, loadRecords } from './support';

const FOLDER = 'real/prediction-market';
const text = (file: string): string => zlib.gunzipSync(fs.readFileSync(file)).toString('utf8');
const ndjson = <T>(name: string): T[] =>
  text(realData(`${FOLDER}/${name}`) as string)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);

describe('recorded trades of the real venue', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => db.drop());

  testWithRealData(
    'rows that stood twice in another store load once; wrong times are refused',
    `${FOLDER}/trades-duplicates-2023.csv.gz`,
    async (file) => {
      const rows = (parse(text(file), { columns: true }) as DuplicateTrade[]).map(tradeOfDuplicate);
      const wrong = rows.filter((row) => Number(row.timestamp) < 1e9).length;
      expect(wrong).toBe(1_355);
      expect((await loadRecords(db.pool, 'export.csv', rows, 'csv')).report).toEqual({
        read: 2_710,
        inserted: 2_710 - wrong,
        duplicates: 0,
        skipped: { bad_timestamp: wrong },
      });
      expect((await loadRecords(db.pool, 'again.csv', [...rows].reverse(), 'csv')).report).toEqual({
        read: 2_710,
        inserted: 0,
        duplicates: 2_710 - wrong,
        skipped: { bad_timestamp: wrong },
      });
      // One page a transaction, as a wallet's page would hold them: the same rows again.
      const byTx = new Map<string, Record<string, string>[]>();
      for (const row of rows) byTx.set(row.transactionHash as string, [...(byTx.get(row.transactionHash as string) ?? []), row]);
      const [, several] = [...byTx].find(([, own]) => own.length > 3) as [string, Record<string, string>[]];
      expect((await loadRecords(db.pool, 'page.csv', several, 'csv')).report.inserted).toBe(0);
    },
  );

  testWithRealData(
    'the questions on two weeks of large buys, beside a second count',
    `${FOLDER}/trades-large-buys-2026-01_2026-02.ndjson.gz`,
    async () => {
      for (const name of ['markets-open-2026-03-11', 'markets-resolved-and-open-raw'])
        await loadFile(db.pool, realData(`${FOLDER}/${name}.ndjson.gz`) as string);
      const tagged = ndjson<TaggedMarket>('markets-resolved-tagged.ndjson.gz');
      const { report } = await loadRecords(db.pool, 'tagged.ndjson', tagged.map(marketOfTagged), 'ndjson');
      expect(report.read).toBe(5_711);
      const politics = await db.pool.query(
        "SELECT count(*)::int AS n FROM pm_market WHERE tags && '{politics}' AND category NOT IN ('Politics', 'Mentions', 'Weather', 'Esports')",
      );
      expect(politics.rows).toEqual([{ n: 0 }]);

      const tokens = tokensOf([
        ...ndjson<Record<string, unknown>>('markets-open-2026-03-11.ndjson.gz'),
        ...ndjson<Record<string, unknown>>('markets-resolved-and-open-raw.ndjson.gz'),
      ]);
      const trades = ndjson<LargeBuy>('trades-large-buys-2026-01_2026-02.ndjson.gz')
        .map((row) => tradeOfLargeBuy(row, tokens))
        .filter((row) => row !== null);
      expect(trades).toHaveLength(3_385);
      expect((await loadRecords(db.pool, 'large-buys.ndjson', trades, 'ndjson')).report).toEqual({
        read: 3_385,
        inserted: 3_385,
        duplicates: 0,
        skipped: {},
      });

      const now = new Date('2026-02-15T14:00:00Z');
      const usdc = (row: Record<string, unknown>): number => Number(((row.size as number) * (row.price as number)).toFixed(6));
      const volume = trades.reduce((sum, row) => sum + usdc(row), 0);
      const { data } = await ask<Record<string, number>>(db, 'platform/stats', now, { timeframe: 'all' });
      expect(data.total_trades).toBe(3_385);
      expect(Math.abs((data.total_volume_usdc as number) - volume)).toBeLessThan(0.01);
      expect([data.active_traders, data.active_markets]).toEqual([
        new Set(trades.map((row) => row.proxyWallet)).size,
        new Set(trades.map((row) => row.conditionId)).size,
      ]);

      const large = trades.filter((row) => usdc(row) >= 10_000 && (row.timestamp as number) * 1_000 >= now.getTime() - 7 * 86_400_000);
      const whales = await ask<{ question: string; outcome: string; timestamp: string; usdc_size: number }[]>(db, 'trades/whales', now, {
        min_usdc: 10_000,
        timeframe: '7d',
        smart_money_only: false,
        limit: 200,
        aggregate: 'fill',
      });
      const newest = large
        .map((row) => row.timestamp as number)
        .sort((a, b) => b - a)
        .slice(0, 200);
      expect(whales.data.map((row) => Date.parse(row.timestamp) / 1_000)).toEqual(newest);
      expect(whales.data.every((row) => row.question !== null && row.outcome !== null)).toBe(true);
    },
    300_000,
  );
});
