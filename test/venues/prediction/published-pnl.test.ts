import fs from 'node:fs';
import zlib from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { type LargeBuy, tokensOf, tradeOfLargeBuy } from '../../support/converters/prediction/large-buys';
import { type TaggedMarket, marketOfTagged } from '../../support/converters/prediction/tagged-markets';
import { testDatabase } from '../../support/database';
import { realData, testWithRealData } from '../../support/real-data';
import { tableOf } from '../../support/told-table';
import { ask } from './ask';
import { loadFile, loadRecords } from './support';

// What real wallets earned by the venue's own word, beside what is answered from the records of them that there are.

const FOLDER = 'real/prediction-market';
const text = (name: string): string => zlib.gunzipSync(fs.readFileSync(realData(`${FOLDER}/${name}`) as string)).toString('utf8');
const ndjson = <T>(name: string): T[] => text(name).split('\n').filter(Boolean).map((line) => JSON.parse(line) as T); // prettier-ignore

let db: Awaited<ReturnType<typeof testDatabase>>;
beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

interface Breakdown {
  total_realized_pnl: number;
  total_positions: number;
}
const breakdown = async (wallet: string, now: Date): Promise<Breakdown> =>
  (await ask<Breakdown>(db, 'wallets/pnl-breakdown', now, { wallet, timeframe: 'all', limit: 200, sort_by: 'pnl', include_open: false }))
    .data;

interface Position {
  proxyWallet: string;
  asset: string;
  oppositeAsset: string;
  conditionId: string;
  title: string;
  outcomeIndex: number;
  totalBought: number;
  size: number;
  initialValue: number;
  cashPnl: number;
  curPrice: number;
  endDate: string;
}

testWithRealData('positions that the venue lists with their loss', 'samples/prediction-market/data-api/positions.json', async (file) => {
  const positions = JSON.parse(fs.readFileSync(file, 'utf8')) as Position[];
  const markets = positions.map((row) => {
    expect([row.curPrice, row.size, row.outcomeIndex]).toEqual([0, row.totalBought, 0]);
    const closed = `${row.endDate}T23:00:00Z`;
    return {
      conditionId: row.conditionId, question: row.title, clobTokenIds: JSON.stringify([row.asset, row.oppositeAsset]), outcomes: '["Yes", "No"]', outcomePrices: '["0", "1"]',
      closed: true, active: true, enableOrderBook: true, umaResolutionStatus: 'resolved', createdAt: '2026-06-01T00:00:00Z', endDate: closed, closedTime: closed,
    }; // prettier-ignore
  });
  await loadRecords(db.pool, 'markets.json', markets);
  // Never sold and bought at one average price: what was paid is all that the record says of the purchases.
  const buys = positions.map((row) => ({
    proxyWallet: row.proxyWallet, side: 'BUY', asset: row.asset, conditionId: row.conditionId, size: row.totalBought, price: row.initialValue / row.totalBought,
    timestamp: Date.parse(`${row.endDate}T12:00:00Z`) / 1_000, outcome: 'Yes', outcomeIndex: 0, transactionHash: row.conditionId,
  })); // prettier-ignore
  expect((await loadRecords(db.pool, 'trades.json', buys)).report).toMatchObject({ inserted: buys.length });
  const { total_realized_pnl, total_positions } = await breakdown(positions[0]?.proxyWallet as string, new Date('2026-07-14T00:00:00Z'));
  const published = positions.reduce((sum, row) => sum + row.cashPnl, 0);
  expect(total_positions).toBe(positions.length);
  // The venue rounds to 1/10,000 of a dollar.
  expect(Math.abs(total_realized_pnl - published)).toBeLessThan(0.001);
});

/** What a share of each outcome paid. */
function payouts({ outcomes, outcomePrices }: TaggedMarket): Map<string, number> {
  const prices = JSON.parse(outcomePrices) as string[];
  return new Map((JSON.parse(outcomes) as string[]).map((outcome, index) => [outcome, Number(prices[index])]));
}

interface Lifetime {
  wallet_address: string;
  lifetime_profit_usd: string;
  lifetime_volume_usd: string;
}

testWithRealData(
  'wallets of large buys beside the venue’s profit of a lifetime',
  `${FOLDER}/wallet-lifetime-stats-2026-05.csv.gz`,
  async () => {
    await loadFile(db.pool, realData(`${FOLDER}/markets-resolved-and-open-raw.ndjson.gz`) as string);
    const tagged = ndjson<TaggedMarket>('markets-resolved-tagged.ndjson.gz');
    const tokens = tokensOf(
      ndjson<Record<string, unknown>>('markets-resolved-and-open-raw.ndjson.gz').filter(({ clobTokenIds }) => clobTokenIds),
    );
    await loadRecords(db.pool, 'tagged.ndjson', tagged.filter(({ conditionId }) => tokens.has(conditionId)).map(marketOfTagged), 'ndjson');
    const buys = ndjson<LargeBuy>('trades-large-buys-2026-01_2026-02.ndjson.gz').filter(({ market_id }) => tokens.has(market_id));
    await loadRecords(db.pool, 'large-buys.ndjson', buys.map((row) => tradeOfLargeBuy(row, tokens)), 'ndjson'); // prettier-ignore
    const published = new Map(
      (parse(text('wallet-lifetime-stats-2026-05.csv.gz'), { columns: true }) as Lifetime[]).map((row) => [
        row.wallet_address.toLowerCase(),
        row,
      ]),
    );
    const settled = tagged.filter(({ outcomePrices }) => outcomePrices !== null && /^\["(1|0)", "(1|0)"\]$/.test(outcomePrices));
    const ends = new Map(settled.map((row) => [row.conditionId, payouts(row)]));

    const now = new Date('2026-05-28T00:00:00Z');
    const told: Record<string, string | number>[] = [];
    for (const wallet of new Set(buys.map((row) => row.wallet))) {
      const own = buys.filter((row) => row.wallet === wallet && ends.get(row.market_id)?.has(row.outcome));
      const stated = published.get(wallet);
      if (own.length === 0 || stated === undefined) continue;
      const pnl = own.reduce(
        (sum, row) => sum + row.trade_size_usd * ((ends.get(row.market_id)?.get(row.outcome) as number) / row.price - 1),
        0,
      );
      const { total_realized_pnl } = await breakdown(wallet, now);
      expect(Math.abs(total_realized_pnl - pnl)).toBeLessThan(0.01);
      const known = buys.filter((row) => row.wallet === wallet).reduce((sum, row) => sum + row.trade_size_usd, 0);
      const share = known / Number(stated.lifetime_volume_usd);
      // With all of its trades on record nothing would excuse a difference.
      expect(share).toBeLessThan(0.5);
      told.push({
      wallet: wallet.slice(0, 10), published: Number(stated.lifetime_profit_usd).toFixed(2), answered: total_realized_pnl.toFixed(2), 'by hand': pnl.toFixed(2),
      reason: `missing history: ${(100 * share).toFixed(3)} % of its volume is on record`,
    }); // prettier-ignore
    }
    expect(told.length).toBeGreaterThan(5);
    console.log(tableOf('Profit by the venue, and as answered from recorded trades (USD)', told));
  },
);
