import { VENUES } from '../../../../src/catalogue';
import { sqlOver } from '../../../../src/db/sql';
import { DAY_MS, isoDay } from '../../../../src/lib/time';
import { listSettledCrowds } from '../../../../src/venues/prediction/queries/market-resolutions';
import { runScores } from '../../../../src/workers/scores';
import { plainClients, recordStatements } from '../../../bench/endpoints/statements';
import { testDatabase } from '../../../support/database';
import { loadWorld } from '../../../support/world';

const DAYS = 12;
const RUNS = 10;
const now = new Date('2026-02-01T00:00:00Z');

interface Plan {
  'Relation Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: Plan[];
}

/** Rows of the table that a plan read, chosen or not. */
function rowsRead(plan: Plan, table: string): number {
  const own = plan['Relation Name'] === table ? (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part, table), own);
}

const literal = (value: unknown): string => {
  const text = Array.isArray(value) ? `{${value.join()}}` : value instanceof Date ? value.toISOString() : String(value);
  return `'${text}'`;
};

test('scores of many runs are not read of every holder to find those of low ones', async () => {
  const db = await testDatabase();
  try {
    const venue = VENUES.find(({ name }) => name === 'prediction') as (typeof VENUES)[number];
    await loadWorld(db.pool, 'prediction', 12_000, new Date(now.getTime() - DAYS * DAY_MS), now);
    await runScores(db.pool, venue, now, () => undefined);
    await db.pool.query(
      `INSERT INTO pm_wallet_score SELECT (jsonb_populate_record(NULL::pm_wallet_score, to_jsonb(run) || jsonb_build_object('day', run.day - ago))).*
       FROM pm_wallet_score AS run, generate_series(1, $1::int) AS ago`,
      [RUNS - 1],
    );
    // One wallet in ten is low in every run.
    await db.pool.query('UPDATE pm_wallet_score SET score = CASE WHEN hashtext(wallet) % 10 = 0 THEN 20 ELSE 70 END');
    await db.pool.query('ANALYZE');
    const days = Array.from({ length: RUNS }, (_, run) => isoDay(new Date(now.getTime() - (RUNS - 1 - run) * DAY_MS)));
    let found = 0;
    const [sent] = await recordStatements(db, async () => void (found = (await listSettledCrowds(sqlOver(db), days, 30, 5, now)).length));
    expect(found).toBeGreaterThan(5);
    const clients = await plainClients(db.url);
    const client = clients[sent?.over as 'pool'];
    await client.query(`PREPARE asked AS ${sent?.query.text}`);
    const values = (sent?.query.values ?? []).map(literal).join(', ');
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked(${values})`);
    await clients.end();
    const plan = rows[0]?.['QUERY PLAN'][0].Plan as Plan;
    const { rows: low } = await db.pool.query<{ n: number }>('SELECT count(*)::int AS n FROM pm_wallet_score WHERE score <= 30');
    expect(rowsRead(plan, 'pm_wallet_score')).toBeLessThanOrEqual(2 * (low[0]?.n as number));
  } finally {
    await db.drop();
  }
}, 120_000);
