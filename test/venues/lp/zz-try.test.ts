import fs from 'node:fs';
import { testDatabase } from '/work/main/test/support/database';
import { loadRecords, readNdjson } from '/work/main/test/venues/lp/load';
import { pairInfoOf, listedTokenOf, historyOf } from '/work/main/test/support/converters/lp/recorded';
const R = '/work/shared/data/real/pools/';
test('try', async () => {
  const db = await testDatabase();
  const time = async (l: string, f: () => Promise<any>) => {
    const t = Date.now();
    const r = await f();
    console.log(l, Date.now() - t, 'ms', JSON.stringify(r));
    return r;
  };
  const pools = (await readNdjson<any>(R + 'dlmm-pools-2024-09-22.ndjson.gz')).map(pairInfoOf);
  const tokens = (await readNdjson<any>(R + 'token-list-2024-09-22.ndjson.gz')).map(listedTokenOf);
  const d = '/work/shared/data/samples/pools/solana-tx/';
  for (const f of fs.readdirSync(d).filter((f) => !f.startsWith('decoded')))
    await time(f, () => loadRecords(db.pool, f, [JSON.parse(fs.readFileSync(d + f, 'utf8'))]));
  await time('pools', () => loadRecords(db.pool, 'pair_all-2024-09-22.json', pools));
  await time('pools2', () => loadRecords(db.pool, 'pair_all-2024-09-22.json', pools));
  await time('tokens', () => loadRecords(db.pool, 'tokens.json', tokens));
  await time('tokens2', () => loadRecords(db.pool, 'tokens.json', tokens));
  for (const f of fs.readdirSync(d).filter((f) => !f.startsWith('decoded')))
    await time(f, () => loadRecords(db.pool, f, [JSON.parse(fs.readFileSync(d + f, 'utf8'))]));
  const closed = (await readNdjson<any>(R + 'lp-closed-positions-pnl-2026-06_2026-07.ndjson.gz')).map(historyOf).filter((x) => x);
  await time('closed', () => loadRecords(db.pool, 'h.ndjson', closed, 'ndjson'));
  await time('closed', () => loadRecords(db.pool, 'h.ndjson', closed, 'ndjson'));
  for (const q of [
    'select * from lp_swap',
    'select * from lp_pool where pool_address in (select pool_address from lp_swap)',
    'select source,count(*),min(usd),max(usd) from token_price group by 1',
    'select kind,count(*),sum(usd),count(distinct owner) from lp_event group by 1',
    'select * from source_cursor',
    'select * from lp_event limit 2',
  ])
    console.log(q, JSON.stringify((await db.pool.query(q)).rows, null, 0));
  await db.drop();
}, 120000);
