import { testDatabase } from '../../support/database';
import { loadRecords } from './load';
import { ask } from './ask';
import { lpWorld } from '../../../src/sandbox/simulator/lp';
test('try', async () => {
  const db = await testDatabase();
  const start=new Date('2026-01-01T00:00:00Z');const end=new Date(start.getTime()+3*86400000);
  for(const p of lpWorld({seed:1,size:20000,start}).pages(start,end))await loadRecords(db.pool,p.name,p.records,p.format);
  for(const [e,v] of [['lp/platform/stats',{}],['lp/platform/stats',{timeframe:'all'}],['lp/platform/stats',{pool_type:'dlmm',timeframe:'1h'}],['lp/pools/search',{query:'SOL-USDC',limit:3}],['lp/pools/search',{query:'ra',limit:3}],['lp/pools/events',{pool_address:'35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf',limit:2}],['lp/pools/events',{pool_address:'35YP4zjMVHm1VsBe1ZVGxonqEaXwzZY5z2Jm132Lkwyf',limit:2,event_type:'swap',field_case:'snake'}]] as any) { try { console.log(e,JSON.stringify(v),JSON.stringify(await ask(db,e,end,v)));}catch(x:any){console.log(e,x);} }
  await db.drop();
},1200000);
