import { loadCatalogue } from '../../src/catalogue';
import { makeExplorer } from '../../src/graph/explorer';
import { standingClock } from '../../src/lib/clock';
import { signProofs, signWith } from '../bench/payments/buyers';
import { holdQueries } from '../payments/held-query';
import { until } from '../support/feeds';
import { ROOT } from '../support/root';
import { type Product, startProduct } from '../support/product';
import { loadSmallWorld, now } from '../venues/prediction/small-world';
import { condition } from '../venues/prediction/support';

// A question that is late costs its buyer nothing and the database nothing more: its statements end with it.

const BUYERS = 3;
/** Less than the pool's own statement_timeout, which would end them one day. */
const LONGEST_WAIT_MS = 30_000;

let product: Product;
beforeAll(async () => {
  product = await startProduct({}, now.toISOString(), { deadline_ms: 5_000 });
  await loadSmallWorld(product.pool);
});
afterAll(() => product.close());

interface Late {
  status: number;
  code?: string;
  charged?: boolean;
  suggestion?: unknown;
}

const held = async (): Promise<string[]> => {
  const { rows } = await product.pool.query<{ query: string }>(
    "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND wait_event_type = 'Lock'",
  );
  return rows.map(({ query }) => query);
};

/** Once it is so, or after the longest wait: the statements with this text that still wait. */
async function heldUntil(enough: (count: number) => boolean, text = /./): Promise<string[]> {
  const from = Date.now();
  for (;;) {
    const queries = (await held()).filter((query) => text.test(query));
    if (enough(queries.length) || Date.now() - from > LONGEST_WAIT_MS) return queries;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const earned = (): Promise<bigint> => product.chains.solana.usdcBalance(product.wallets.solana.pay_to);

// The second asks Prisma first, beside what it asks of the query catalogue.
test.each([
  ['a statement of the query catalogue', 'trades/whales?timeframe=7d&min_usdc=100', /WITH|SELECT/, { timeframe: '24h' }],
  ['a statement of Prisma', `markets/trades?condition_id=${condition(1)}`, /"public"\."pm_(market|outcome)"/, { timeframe: '12h' }],
])(
  'a deadline ends %s in PostgreSQL and charges nobody',
  async (_, path, text, suggestion) => {
    const url = `${product.publicUrl}/api/v1/${path}`;
    const sign = await signWith('x402', product.wallets as never);
    // Limits apart: nobody is handed another's answer.
    const urls = Array.from({ length: BUYERS }, (__, index) => `${url}&limit=${index + 1}`);
    const proofs = await Promise.all(urls.map(async (one) => (await signProofs(one, 1, [sign]))[0] as Record<string, string>));
    const before = await earned();
    const release = await holdQueries(product.pool, 'pm_');
    try {
      const replies = urls.map(async (one, index): Promise<Late> => {
        const response = await fetch(one, { headers: proofs[index] });
        return { status: response.status, ...((await response.json()) as Omit<Late, 'status'>) };
      });
      const stuck = await heldUntil((count) => count >= BUYERS, text);
      expect(stuck.length).toBeGreaterThanOrEqual(BUYERS);
      for (const reply of await Promise.all(replies))
        expect(reply).toMatchObject({ status: 504, code: 'query_timeout', charged: false, suggestion });
      expect(await heldUntil((count) => count === 0)).toEqual([]);
    } finally {
      await release();
    }
    expect(await earned()).toBe(before);
    const { rows } = await product.pool.query("SELECT DISTINCT state FROM payment WHERE state NOT IN ('RELEASED')");
    expect(rows).toEqual([]);
  },
  300_000,
);

test('a deadline ends what an analyst asked as well', async () => {
  const explorer = makeExplorer(loadCatalogue(ROOT).schema, product.db, standingClock(now), { deadlineMs: 5_000 });
  const release = await holdQueries(product.pool, 'pm_');
  try {
    const query = `{ market(condition_id: "${condition(1)}") { question } }`;
    const asked = explorer.fetch('http://localhost/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await heldUntil((count) => count > 0)).not.toEqual([]);
    const { errors } = (await (await asked).json()) as { errors: { extensions: unknown }[] };
    expect(errors.map(({ extensions }) => extensions)).toEqual([{ code: 'query_timeout' }]);
    expect(await heldUntil((count) => count === 0)).toEqual([]);
  } finally {
    await release();
  }
});

test('what an analyst asked ends when they leave', async () => {
  const release = await holdQueries(product.pool, 'pm_');
  try {
    const leaving = new AbortController();
    const asked = fetch(`${product.internalUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: `{ market(condition_id: "${condition(1)}") { question } }` }),
      signal: leaving.signal,
    });
    expect(await heldUntil((count) => count > 0)).not.toEqual([]);
    const left = Date.now();
    leaving.abort();
    await expect(asked).rejects.toThrow();
    expect(await heldUntil((count) => count === 0)).toEqual([]);
    expect(Date.now() - left).toBeLessThan(10_000);
  } finally {
    await release();
  }
});

test('what is left of a question that has failed ends with the answer', async () => {
  const release = await holdQueries(product.pool, 'pm_');
  try {
    const unknown = '{ lpPoolsDetail(pool_address: "11111111111111111111111111111111") { price } tradesWhales { side } }';
    const response = await fetch(`${product.internalUrl}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: unknown }),
    });
    expect(((await response.json()) as { errors: { extensions: unknown }[] }).errors[0]?.extensions).toMatchObject({ code: 'not_found' });
    const answered = Date.now();
    expect(await heldUntil((count) => count === 0)).toEqual([]);
    expect(Date.now() - answered).toBeLessThan(10_000);
  } finally {
    await release();
  }
});

test('while questions hold all connections that answers are made over, /health tells how the database is, and how far it was read', async () => {
  type Told = { status: string; data_freshness: { scores: unknown; perps: { lag_s: number | null } } };
  const health = async (): Promise<Told> => (await (await fetch(`${product.publicUrl}/health`)).json()) as Told;
  const { status, data_freshness } = await health();
  const held = await Promise.all(Array.from({ length: product.db.pool.options.max }, () => product.db.pool.connect()));
  try {
    expect(await health()).toMatchObject({ status, postgres: { status: 'ok' }, data_freshness: { scores: data_freshness.scores } });
    await product.pool.query("INSERT INTO source_cursor (source, venue, cursor, watermark) VALUES ('perps.fills', 'perps', '{}', $1)", [
      now,
    ]);
    await until(async () => (await health()).data_freshness.perps.lag_s === 0, 'how far perps were read', 8_000);
  } finally {
    for (const one of held) one.release();
  }
});
