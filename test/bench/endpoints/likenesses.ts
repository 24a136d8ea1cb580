import { Client, type Pool } from 'pg';
import { openDatabase } from '../../../src/db/client';
import type { EndpointsWorld } from './world';

/** What tells of pools without their providers, with the time by which it does where it is finer than a day. */
const TABLES: Readonly<Record<string, string | null>> = {
  lp_pool: null,
  lp_pool_bar: 'bar',
  lp_pool_hour: 'hour',
  lp_pool_quarter: 'quarter',
  lp_pool_day: null,
  lp_pool_month: null,
  lp_pool_life: null,
  lp_flow_hour: 'hour',
  lp_flow_quarter: 'quarter',
  lp_flow_day: null,
  lp_flow_month: null,
  lp_flow_life: null,
  lp_liquidity_hour: 'hour',
};
const AMOUNTS = ['usd', 'swap_usd', 'fee_usd', 'swap_fee_usd', 'deposit_usd', 'withdraw_usd', 'claim_usd'];
/** A likeness does something in one of so many hours in which its pool does. */
const QUIETER = 8;

/** Gives each pool `count` likenesses of a thousandth to a twentieth of what it comes to. */
async function addLikenesses(pool: Pool, count: number): Promise<void> {
  for (const [table, time] of Object.entries(TABLES)) {
    const { rows } = await pool.query<{ name: string }>(
      "SELECT attname AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
      [table],
    );
    const names = rows.map(({ name }) => name);
    const part = '(0.001 + abs(hashtext(s.pool_address || k) % 1000) / 20000.0)';
    const values = names.map((name) =>
      name === 'pool_address'
        ? `left(s.pool_address, 38) || lpad(k::text, 4, '0')`
        : AMOUNTS.includes(name)
          ? `round(s.${name} * ${part}, 9)`
          : `s.${name}`,
    );
    const some = time === null ? '' : ` WHERE abs(hashtext(s.pool_address || k || s.${time})) % ${QUIETER} = 0`;
    await pool.query(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values.join(', ')} FROM ${table} s, generate_series(1, ${count}) k${some}`,
    );
  }
  await pool.query('ANALYZE');
}

/**
 * A world of pools, copied, in which each pool has so many likenesses, at most 9,999: smaller, in fewer hours, without swaps, providers and positions. The simulator makes hundreds
 * of pools, the venue lists tens of thousands. Whoever else is connected to the world loses that. The copy goes when it is closed, and the world with it.
 */
export async function withLikenesses(world: EndpointsWorld, count: number): Promise<EndpointsWorld> {
  const url = new URL(world.url);
  const template = url.pathname.slice(1);
  url.pathname = `/${template}_${process.pid}`;
  const asAdmin = async (statement: string): Promise<void> => {
    const admin = new Client({ connectionString: Object.assign(new URL(world.url), { pathname: '/postgres' }).href });
    await admin.connect();
    await admin.query(statement).finally(() => admin.end());
  };
  await asAdmin(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${template}'`);
  await asAdmin(`CREATE DATABASE ${url.pathname.slice(1)} TEMPLATE ${template} STRATEGY FILE_COPY`);
  const db = await openDatabase(url.href, { statement_timeout_ms: 0 });
  await addLikenesses(db.pool, count);
  return {
    ...world,
    db,
    url: url.href,
    close: async () => {
      await db.close();
      await asAdmin(`DROP DATABASE ${url.pathname.slice(1)} WITH (FORCE)`);
      await world.close();
    },
  };
}
