import { testDatabase } from '../../support/database';
import { loadRecords } from './load';
import { lpWorld } from '../../../src/sandbox/simulator/lp';
test('try', async () => {
  const db = await testDatabase();
  const size=Number(process.env.SIZE??30000);
  const start=new Date('2026-01-01T00:00:00Z');const end=new Date(start.getTime()+30*86400000);
  const by:Record<string,{n:number,ms:number,ins:number,dup:number,gen:number}>={};const skipped:any={};
  const w=lpWorld({seed:1,size,start});let t0=Date.now();
  for(const p of w.pages(start,end)){const gen=Date.now()-t0;const t=Date.now();const r=await loadRecords(db.pool,p.name,p.records,p.format);const k=p.name.replace(/_?20\d\d.*|pools_[1-9A-Za-z]{32,}/g,'');const b=by[k]??={n:0,ms:0,ins:0,dup:0,gen:0};b.n+=r.read;b.ms+=Date.now()-t;b.ins+=r.inserted;b.dup+=r.duplicates;b.gen+=gen;for(const[a,c]of Object.entries(r.skipped))skipped[a]=(skipped[a]??0)+c;t0=Date.now();}
  console.log(JSON.stringify(by),JSON.stringify(skipped));
  for(const q of ['select count(*),count(*) filter (where usd is null) unpriced, sum(usd) from lp_swap','select kind,pool_type,count(*),count(*) filter (where usd is null) unpriced,count(*) filter (where usd_stated) stated,sum(usd),percentile_cont(0.5) within group (order by usd) p50,max(usd) from lp_event group by 1,2 order by 1,2','select source,count(*) from token_price group by 1','select kind,count(*) from dca_event group by 1','select count(*) from lp_pool','select kind,count(*) from lp_position_event group by 1','select count(*),count(closed_at),count(owner),count(pool_address) from lp_position','select * from source_cursor',
   "select e.pool_type, count(*), avg(abs(e.usd/nullif(coalesce(stated_usd_x,0)+coalesce(stated_usd_y,0),0)-1)) from lp_event e where usd_stated group by 1"]) console.log(q,JSON.stringify((await db.pool.query(q)).rows));
  await db.drop();
},1200000);
