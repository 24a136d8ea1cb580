import { Client } from 'pg';
import { migrate, migrationsOf } from '../../src/db/migrate';
import { ROOT } from '../support/root';
import { type TestDatabase, testDatabase } from '../support/database';
import { call } from '../venues/prediction/markets/call';
import { market, now } from '../venues/prediction/small-world';
import { loadRecords } from '../venues/prediction/support';
import { ask as askPools } from '../venues/lp/ask';
import { named } from '../venues/lp/chain-writer';
import { loadRecords as loadPools } from '../venues/lp/load';
import { dammPoolsPage } from '../venues/lp/pages';
import { ANN, MAX, NOW, ago } from '../venues/perps/small-world';
import { ask, load, match } from '../venues/perps/support';

// A database of somebody's own sorts and lowers by the rules of their language: in Turkish, i is lowered from İ and I to ı, and 'a' comes before 'B'.

const TEMPLATE = `${process.env.TEST_TEMPLATE}_turkish`;
let database: TestDatabase;

beforeAll(async () => {
  const url = new URL(process.env.TEST_ADMIN_URL as string);
  const admin = new Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'tr-TR'`);
  await admin.end();
  url.pathname = `/${TEMPLATE}`;
  await migrate(url.href, migrationsOf(ROOT));
  database = await testDatabase(TEMPLATE);
  expect((await database.pool.query("SELECT lower('I') AS lower")).rows).toEqual([{ lower: 'ı' }]);
});
afterAll(() => database.drop());

test('markets are found by words in either case', async () => {
  await loadRecords(database.pool, 'markets.json', [market(1, { question: 'Will INTER win in İzmir?' }), market(2)]);
  for (const query of ['inter', 'INTER', 'QUESTION 1', 'zmir'])
    expect([query, (await call<unknown[]>(database, 'markets/search', now, { query, status: 'all' })).data]).toEqual([
      query,
      [expect.objectContaining({ question: 'Will INTER win in İzmir?' })],
    ]);
});

test('coins are found in either case', async () => {
  await load(database.pool, [
    match(ago(30), { coin: 'unit:SILVER', px: '1', sz: '5', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }),
  ]);
  const { data } = await ask<{ coin: string }[]>(database, 'perps/coins/list', { query: 'unit:si', sort_by: 'volume', limit: 5 }, NOW);
  expect(data).toEqual([expect.objectContaining({ coin: 'unit:SILVER' })]);
  expect((await ask<{ coin: string }[]>(database, 'perps/trades/feed', { coin: 'unit:silver', limit: 1 }, NOW)).data).toMatchObject([
    { coin: 'unit:SILVER' },
  ]);
});

test('pools that are alike come in the order of their addresses, byte by byte', async () => {
  const addresses = Array.from({ length: 16 }, (_, n) => named(`pool ${n + 1}`));
  const data = addresses.map((address) => ({ ...dammPoolsPage.data[0], address }));
  await loadPools(database.pool, 'pools.json', [{ ...dammPoolsPage, data }]);
  const found = await askPools<{ pool_address: string }[]>(database, 'lp/pools/search', new Date(), { query: 'ZED', limit: 16 });
  expect(found.data.map((pool) => pool.pool_address)).toEqual(addresses.sort());
});
