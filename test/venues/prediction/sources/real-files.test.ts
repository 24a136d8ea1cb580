import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { testDatabase } from '../../../support/database';
import { testWithRealData } from '../../../support/real-data';
import { loadFile } from '../support';

const lines = (file: string): Record<string, unknown>[] =>
  zlib
    .gunzipSync(fs.readFileSync(file))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const json = (file: string): Record<string, unknown>[] => JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>[];

describe('recorded upstream files', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => db.drop());

  const one = async (sql: string): Promise<Record<string, unknown>> => (await db.pool.query<Record<string, unknown>>(sql)).rows[0] ?? {};

  testWithRealData(
    'a CSV export of /trades loads whole, and once',
    'real/prediction-market/trades-esports-2026-01-08.csv.gz',
    async (file) => {
      const rows = parse(zlib.gunzipSync(fs.readFileSync(file)), { columns: true }) as Record<string, string>[];
      const first = await loadFile(db.pool, file);
      expect(first).toEqual({
        source: 'prediction.trades',
        report: { read: rows.length, inserted: rows.length, duplicates: 0, skipped: {} },
      });
      const second = await loadFile(db.pool, file);
      expect(second.report).toEqual({ read: rows.length, inserted: 0, duplicates: rows.length, skipped: {} });

      const distinct = (key: string): number => new Set(rows.map((row) => row[key])).size;
      const stored =
        await one(`SELECT count(*)::int AS rows, count(DISTINCT wallet)::int AS wallets, count(DISTINCT condition_id)::int AS markets,
      count(DISTINCT token_id)::int AS tokens, sum(size)::text AS size, sum(price * size)::text AS cost, bool_and(is_taker) AS takers, count(tx_hash)::int AS hashes,
      min(timestamp)::text AS first, max(timestamp)::text AS last FROM pm_trade`);
      const exact = await one(`SELECT sum(size)::text AS size, sum(price * size)::text AS cost FROM unnest(
      ARRAY[${rows.map((row) => row.size).join(',')}]::numeric[], ARRAY[${rows.map((row) => row.price).join(',')}]::numeric[]) AS row(size, price)`);
      const times = rows.map((row) => `${row.timestamp}+00`).sort();
      expect(stored).toEqual({
        rows: rows.length,
        wallets: distinct('proxyWallet'),
        markets: distinct('conditionId'),
        tokens: distinct('asset'),
        ...exact,
        takers: true,
        hashes: 0,
        first: times[0],
        last: times.at(-1),
      });
      const known = await one(
        'SELECT (SELECT count(*)::int FROM pm_market WHERE is_stub) AS markets, (SELECT count(*)::int FROM pm_outcome) AS tokens, (SELECT count(*)::int FROM pm_wallet) AS wallets',
      );
      expect(known).toEqual({ markets: distinct('conditionId'), tokens: distinct('asset'), wallets: distinct('proxyWallet') });
      expect(
        await one(
          "SELECT outcome FROM pm_outcome WHERE token_id = '73552186609391037701500937308503918312036673500820303303962411058338406649980'",
        ),
      ).toEqual({ outcome: 'Team Lynx' });
    },
  );

  testWithRealData(
    'a listing of open markets loads whole, and once',
    'real/prediction-market/markets-open-2026-03-11.ndjson.gz',
    async (file) => {
      const markets = lines(file);
      const first = await loadFile(db.pool, file);
      expect(first).toEqual({ source: 'prediction.markets', report: { read: 35_955, inserted: 35_955, duplicates: 0, skipped: {} } });
      expect((await loadFile(db.pool, file)).report).toEqual({ read: 35_955, inserted: 0, duplicates: 35_955, skipped: {} });
      const tokens = new Set(markets.flatMap((market) => JSON.parse(market.clobTokenIds as string) as string[]));
      const stored = await one(`SELECT (SELECT count(*)::int FROM pm_market) AS markets, (SELECT count(*)::int FROM pm_outcome) AS tokens,
      (SELECT count(*)::int FROM pm_market WHERE resolved_at IS NOT NULL OR closed_at IS NOT NULL) AS ended,
      (SELECT count(*)::int FROM pm_market WHERE end_date IS NULL) AS endless, (SELECT count(*)::int FROM pm_market WHERE neg_risk) AS neg_risk`);
      expect(stored).toEqual({
        markets: new Set(markets.map((market) => market.conditionId)).size,
        tokens: tokens.size,
        ended: 0,
        endless: markets.filter((market) => market.endDate === undefined).length,
        neg_risk: markets.filter((market) => market.negRisk === true).length,
      });
      const other = await one("SELECT count(*)::int AS n FROM pm_market WHERE category = 'Other'");
      expect(other.n).toBeLessThan(0.025 * markets.length);
    },
    300_000,
  );

  testWithRealData('resolved and old markets', 'real/prediction-market/markets-resolved-and-open-raw.ndjson.gz', async (file) => {
    const markets = lines(file);
    const { report } = await loadFile(db.pool, file);
    expect(report).toEqual({ read: 1_096, inserted: 1_096, duplicates: 0, skipped: {} });
    // Judged here by the texts alone: a price written 1 or within a thousandth of it on markets without order book, or resolved by the oracle.
    const expected = { resolved: 0, voided: 0, unknown: 0, winners: new Map<string, string>() };
    for (const market of markets.filter((candidate) => candidate.closed === true)) {
      const prices = (JSON.parse(market.outcomePrices as string) as string[]).map(Number);
      const outcomes = JSON.parse(market.outcomes as string) as string[];
      const loose = market.enableOrderBook !== true || market.umaResolutionStatus === 'resolved';
      const best = Math.max(...prices);
      const rest = prices.filter((price) => price !== best);
      if (prices.every((price) => price === 1 / prices.length)) expected.voided += 1;
      else if ((best === 1 && rest.every((price) => price === 0)) || (loose && best >= 0.999 && rest.every((price) => price <= 0.001))) {
        expected.resolved += 1;
        expected.winners.set(market.conditionId as string, outcomes[prices.indexOf(best)] as string);
      } else expected.unknown += 1;
    }
    const stored =
      await one(`SELECT count(*) FILTER (WHERE winning_outcome IS NOT NULL)::int AS resolved, count(*) FILTER (WHERE is_voided)::int AS voided,
      count(*) FILTER (WHERE closed_at IS NOT NULL AND resolved_at IS NULL)::int AS unknown FROM pm_market`);
    expect(stored).toEqual({ resolved: expected.resolved, voided: expected.voided, unknown: expected.unknown });
    expect(expected.voided).toBe(1);
    const { rows } = await db.pool.query<{ condition_id: string; winning_outcome: string }>(
      'SELECT condition_id, winning_outcome FROM pm_market WHERE winning_outcome IS NOT NULL',
    );
    expect(new Map(rows.map((row) => [row.condition_id, row.winning_outcome]))).toEqual(expected.winners);
    const paid = await one(
      'SELECT count(*)::int AS n FROM (SELECT condition_id FROM pm_outcome WHERE payout IS NOT NULL GROUP BY 1 HAVING sum(payout) <> 1) AS wrong',
    );
    expect(paid.n).toBe(0);
    const several = await one('SELECT max(cardinality(outcomes)) AS most FROM pm_market');
    expect(several.most).toBe(7);
  });

  testWithRealData(
    'settled markets told with their tags, without a flag that they closed',
    'real/prediction-market/markets-resolved-tagged.ndjson.gz',
    async (file) => {
      const markets = lines(file);
      const { report } = await loadFile(db.pool, file);
      expect(report).toEqual({ read: markets.length, inserted: 5_689, duplicates: 0, skipped: { bad_condition_id: 22 } });
      const { rows } = await db.pool.query<{ condition_id: string; winning_outcome: string }>(
        'SELECT condition_id, winning_outcome FROM pm_market WHERE resolved_at = closed_at',
      );
      const won = markets.filter(({ outcomePrices }) => /^\["(1|0)", "(1|0)"\]$/.test(String(outcomePrices)));
      expect(won.length).toBeGreaterThan(5_000);
      expect(new Map(rows.map((row) => [row.condition_id, row.winning_outcome]))).toEqual(
        new Map(won.map((row) => [row.conditionId, row.resolvedOutcome])),
      );
    },
    300_000,
  );

  testWithRealData('/trades as served', 'samples/prediction-market/data-api/trades.json', async (file) => {
    const rows = json(file);
    expect(await loadFile(db.pool, file)).toEqual({
      source: 'prediction.trades',
      report: { read: rows.length, inserted: rows.length, duplicates: 0, skipped: {} },
    });
    const { rows: stored } = await db.pool.query<{ tx_hash: string; usdc: string; exact: string }>(
      'SELECT tx_hash, usdc_size::text AS usdc, round(price * size, 6)::text AS exact FROM pm_trade',
    );
    expect(stored.map((row) => row.tx_hash).sort()).toEqual(rows.map((row) => row.transactionHash).sort());
    for (const row of stored) expect(row.usdc).toBe(row.exact);
  });

  testWithRealData(
    '/activity as served: trades and redemptions kept, cash counted by its name',
    'samples/prediction-market/data-api/activity_all.json',
    async (file) => {
      const { source, report } = await loadFile(db.pool, file);
      expect(source).toBe('prediction.activity');
      expect(report).toEqual({ read: 50, inserted: 44, duplicates: 0, skipped: { reward: 4, maker_rebate: 1, taker_rebate: 1 } });
      const stored = await one(
        "SELECT count(*) FILTER (WHERE side = 'BUY')::int AS buys, count(*) FILTER (WHERE side = 'REDEEM')::int AS redeems, count(is_taker)::int AS takers FROM pm_trade",
      );
      expect(stored).toEqual({ buys: 42, redeems: 2, takers: 0 });
      const usdc = json(file)
        .filter((row) => row.type === 'TRADE')
        .reduce((sum, row) => sum + BigInt(Math.round((row.usdcSize as number) * 1e6)), 0n);
      expect(await one("SELECT (sum(usdc_size) * 1000000)::bigint::text AS usdc FROM pm_trade WHERE side = 'BUY'")).toEqual({
        usdc: String(usdc),
      });
    },
  );

  testWithRealData(
    'a wallet’s own history states price · size of what it bought, and of what it took the fee on top',
    'samples/prediction-market/data-api/activity_all.json',
    async (file) => {
      const bought = json(file).filter((row) => row.type === 'TRADE') as unknown as Record<'size' | 'price' | 'usdcSize', number>[];
      // The venue's fee of a taker: shares · rate · p · (1 − p), here at a rate of 0.05; makers pay none.
      const rates = bought.map(({ size, price, usdcSize }) => (usdcSize - size * price) / (size * price * (1 - price)));
      expect(new Set(rates.map((rate) => Math.abs(Number(rate.toFixed(4)))))).toEqual(new Set([0, 0.05]));
      await loadFile(db.pool, file);
      const stated = bought.map(({ usdcSize }) => usdcSize).sort((a, b) => a - b);
      const { rows } = await db.pool.query<{ usdc: number }>(
        "SELECT usdc_size::float8 AS usdc FROM pm_trade WHERE side = 'BUY' ORDER BY 1",
      );
      expect(rows.map(({ usdc }) => usdc)).toEqual(stated);
    },
  );

  testWithRealData('a page of redemptions', 'samples/prediction-market/data-api/activity.json', async (file) => {
    expect((await loadFile(db.pool, file)).report).toEqual({ read: 15, inserted: 15, duplicates: 0, skipped: {} });
  });

  for (const [name, count] of [
    ['markets_open_25', 25],
    ['markets_resolved_20', 20],
  ] as const) {
    testWithRealData(`catalogue sample ${name}`, `samples/prediction-market/gamma/${name}.json`, async (file) => {
      expect(await loadFile(db.pool, file)).toEqual({
        source: 'prediction.markets',
        report: { read: count, inserted: count, duplicates: 0, skipped: {} },
      });
    });
  }
});
