import { parse } from 'graphql';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { buy } from '../../src/sandbox/buyer';
import { type PretendPrediction, startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import { failsForLong, staleError, usesScores } from '../../src/gateway/stale';
import { loadCatalogue } from '../../src/catalogue';
import type { Endpoint } from '../../src/endpoints/endpoint';
import { ROOT } from '../support/root';
import { announceScores } from '../../src/workers/scores';
import { TurnedClock, until, untilRead } from '../support/feeds';
import { type Product, startProduct } from '../support/product';
import { loadWorld } from '../support/world';

const START = new Date('2026-04-01T00:00:00Z');
const SIZE = 6_000;
const at = (minutes: number): Date => new Date(START.getTime() + 2 * 86_400_000 + minutes * 60_000);
const GATES = ['prediction.markets', 'prediction.trades', 'prediction.fills'];
const TRADES = 'trades/whales?timeframe=7d&min_usdc=10&limit=3';

interface Health {
  status: string;
  data_freshness: Record<
    string,
    {
      status: string;
      mode: string;
      lag_s: number;
      feeds: Feed[];
    }
  >;
}

interface Feed {
  feed: string;
  records: { inserted: number };
  failure: { words: string } | null;
  event_lag: { events: number };
}

describe('live feeds over the running product', () => {
  let product: Product;
  let upstream: PretendPrediction;
  const clock = new TurnedClock(at(0));

  beforeAll(async () => {
    upstream = await startPredictionUpstream({
      world: predictionWorld({ seed: 1, size: SIZE, start: START }),
      since: at(-400),
      clock,
    });
    product = await startProduct({ clock, upstreams: { prediction: { ...upstream.urls }, perps: {}, lp: {} } });
    await loadWorld(product.pool, 'prediction', SIZE, START, at(-300));
    await loadWorld(product.pool, 'perps', SIZE, START, at(-30));
  });
  afterAll(async () => {
    await product.close();
    await upstream.stop();
  });

  const url = (path: string): string => `${product.publicUrl}/api/v1/${path}`;
  const purchase = (path: string) => buy({ method: 'GET', url: url(path), protocol: 'x402' }, product.wallets);
  const health = async (): Promise<Health> => (await (await fetch(`${product.publicUrl}/health`)).json()) as Health;
  const earned = (): Promise<bigint> => product.chains.solana.usdcBalance(product.wallets.solana.pay_to);
  /** Until the gateway has looked at where the feeds stand. */
  const untilTold = (status: string, venue: 'prediction' | 'perps' = 'prediction'): Promise<void> =>
    until(async () => (await health()).data_freshness[venue]?.status === status, `/health says ${venue}: ${status}`);

  test('a fresh feed is sold, and says how fresh it is', async () => {
    await untilRead(product.pool, GATES, at(0));
    await until(async () => (await health()).data_freshness.prediction?.lag_s === 0, 'no lag');
    const bought = await purchase(TRADES);
    expect([bought.status, (JSON.parse(bought.body) as { meta: { freshness_s: number } }).meta.freshness_s]).toEqual([200, 0]);
  });

  test('a list that facts order anew is as of an instant before which no more are told, bought or free', async () => {
    const settled = '2026-04-02T23:59:40Z';
    const bought = await purchase('markets/resolutions?sort_by=volume&limit=1');
    expect([bought.status, (JSON.parse(bought.body) as { meta: { as_of: string } }).meta.as_of]).toEqual([200, settled]);
    const query = '{ marketsResolutions(sort_by: volume, limit: 1) { condition_id } }';
    const free = await fetch(`${product.internalUrl}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    expect(await free.json()).toMatchObject({ extensions: { meta: { as_of: settled } } });
  });

  test('what the upstream tells is in the next answers, and how long that took in /health', async () => {
    const [newest] = (await (await fetch(`${upstream.urls.data}/trades?limit=1`)).json()) as {
      conditionId: string;
      transactionHash: string;
      timestamp: number;
    }[];
    // Not from the bulk load.
    expect(newest?.timestamp).toBeGreaterThan(at(-300).getTime() / 1_000);
    const bought = await purchase(`markets/trades?condition_id=${newest?.conditionId}&timeframe=24h&limit=5`);
    const { data } = JSON.parse(bought.body) as { data: { trades: { tx_hash: string }[] } };
    expect(data.trades.map(({ tx_hash }) => tx_hash)).toContain(newest?.transactionHash);
    // A trade is in both feeds: it counts for the one that told it first.
    const told = async (): Promise<Feed | undefined> =>
      (await health()).data_freshness.prediction?.feeds.find(
        ({ feed, event_lag }) => ['prediction.trades', 'prediction.fills'].includes(feed) && event_lag.events > 0,
      );
    // How long a step's events took is written with the step after it.
    await until(async () => (await told()) !== undefined, '/health says how long events took');
    const feed = await told();
    expect(feed).toMatchObject({ lag_s: 0, failure: null, event_lag: { p50_s: expect.any(Number) as number } });
    expect(feed?.records.inserted).toBeGreaterThan(0);
  });

  test('a lag of more than ten minutes is 503 stale_data, uncharged; other venues go on; the same proof buys once the feed is back', async () => {
    upstream.faults.down = true;
    clock.turnTo(at(9));
    await until(async () => (await health()).data_freshness.prediction?.lag_s === 540, 'a lag of nine minutes');
    expect((await purchase(TRADES)).status).toBe(200);

    clock.turnTo(at(11));
    await untilTold('stale');
    const before = await earned();
    let proof = '';
    const watched: typeof fetch = (input, init) => {
      proof = new Request(input, init).headers.get('payment-signature') ?? proof;
      return globalThis.fetch(input, init);
    };
    const stale = await payWith(watched, url(TRADES), product);
    const body = (await stale.json()) as Record<string, unknown>;
    expect([stale.status, body.code, body.reason, body.charged]).toEqual([503, 'stale_data', 'feed_lag', false]);
    expect(Number(stale.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await earned()).toBe(before);
    expect((await purchase('perps/platform/stats?timeframe=7d')).status).toBe(200);
    const perps = await earned();
    await untilTold('ok', 'perps');
    expect(await health()).toMatchObject({
      status: 'degraded',
      data_freshness: { prediction: { status: 'stale', mode: 'live' }, perps: { status: 'ok', mode: 'recorded' } },
    });
    const failure = async (): Promise<string | undefined> =>
      (await health()).data_freshness.prediction?.feeds.find(({ feed }) => feed === 'prediction.trades')?.failure?.words;
    await until(async () => (await failure()) !== undefined, 'the failure is told');
    expect(await failure()).toMatch(/^127\.0\.0\.1:\d+\/trades answered 503$/);

    upstream.faults.down = false;
    await untilRead(product.pool, GATES, at(11));
    await untilTold('ok');
    const again = await fetch(url(TRADES), { headers: { 'payment-signature': proof } });
    expect([proof.length > 0, again.status]).toEqual([true, 200]);
    expect(await earned()).toBeGreaterThan(perps);
  });

  test('answers that were kept are made anew once the venue is scored', async () => {
    const cached = async (): Promise<string> => (JSON.parse((await purchase('markets/categories')).body) as { meta: { cache: string } }).meta.cache; // prettier-ignore
    expect([await cached(), await cached()]).toEqual(['miss', 'hit']);
    const job = ['score.prediction', 'prediction', JSON.stringify({ as_of: clock.now() })];
    await product.pool.query('INSERT INTO source_cursor (source, venue, cursor) VALUES ($1, $2, $3)', job);
    await until(async () => (await cached()) === 'miss', 'the answer is made anew', 20_000);
    expect(await cached()).toBe('hit');
    // The same run again, as of the same instant: what it is made of may have changed.
    await announceScores(product.pool);
    await until(async () => (await cached()) === 'miss', 'the answer is made anew again', 20_000);
    await product.pool.query('DELETE FROM source_cursor WHERE source = $1', [job[0]]);
  });

  test('scores older than 48 hours stop the endpoints that use them, and no other', async () => {
    await product.pool.query(`INSERT INTO source_cursor (source, venue, cursor) VALUES ('score.prediction', 'prediction', $1)`, [
      JSON.stringify({ as_of: new Date(at(11).getTime() - 49 * 3_600_000) }),
    ]);
    await until(async () => JSON.parse((await purchase(TRADES)).body).code === 'stale_data', 'scores are stale');
    const refused = JSON.parse((await purchase(TRADES)).body) as Record<string, unknown>;
    expect([refused.code, refused.reason, refused.charged]).toEqual(['stale_data', 'score_age', false]);
    const { rows } = await product.pool.query<{ wallet: string }>(
      `SELECT wallet FROM pm_position WHERE closed_at IS NOT NULL ORDER BY closed_at DESC LIMIT 1`,
    );
    const breakdown = {
      method: 'POST' as const,
      url: url('wallets/pnl-breakdown'),
      protocol: 'x402' as const,
      body: { wallet: rows[0]?.wallet },
    };
    expect((await buy(breakdown, product.wallets)).status).toBe(200);
    expect((await purchase('perps/platform/stats?timeframe=7d')).status).toBe(200);
  });
});

async function payWith(watched: typeof fetch, url: string, { wallets }: Product): Promise<Response> {
  const [{ wrapFetchWithPayment, x402Client }, { ExactSvmScheme }, { createKeyPairSignerFromBytes }, { default: bs58 }] = await Promise.all(
    [import('@x402/fetch'), import('@x402/svm/exact/client'), import('@solana/kit'), import('bs58')],
  );
  const signer = await createKeyPairSignerFromBytes(bs58.decode(wallets.solana.secret_key));
  return wrapFetchWithPayment(
    watched,
    new x402Client().register('solana:*', new ExactSvmScheme(signer, { rpcUrl: wallets.solana.rpc_url })),
  )(url);
}

const { endpoints } = loadCatalogue(ROOT);

test('which endpoints use scores follows from what they name', () => {
  expect(endpoints.filter((endpoint) => !usesScores(endpoint)).map(({ name }) => name)).toEqual([
    'lp/dca/pressure',
    'lp/platform/operator-share',
    'lp/platform/volume-heatmap',
    'lp/pools/events',
    'lp/pools/search',
    'lp/pools/volume-history',
    'lp/positions/history',
    'perps/coins/list',
    'perps/pressure/summary',
    'perps/traders/daily-pnl',
    'perps/traders/pnl-by-coin',
    'perps/trades/feed',
    'wallets/pnl-breakdown',
  ]);
});

test.each<[venue: Endpoint['venue'], document: string, uses: boolean]>([
  ['perps', '{ x { score } }', true],
  ['perps', '{ x { copy_score score_version } }', true],
  ['perps', '{ x { score_version } }', true],
  ['perps', '{ x { scoreboard underscore } }', false],
  ['perps', '{ x { dumb_wallets } }', true],
  ['perps', '{ x { isSmart } }', true],
  ['perps', 'query ($smart_only: Boolean) { x { wallet } }', true],
  // What a question is called is not what is in it.
  ['perps', '{ smartFlow { row { usd } } smartSide { usd } }', false],
  ['lp', '{ x { score } }', false],
  ['lp', '{ x { lp_score } }', true],
  ['lp', '{ x { LpScore } }', true],
])('of %s %s names scores: %s', (venue, document, uses) => expect(usesScores({ venue, document: parse(document) } as Endpoint)).toBe(uses));

test.each([
  [{ at: 600 }, false],
  [{ at: 601 }, true],
  [{ at: 0, since: 600 }, false],
  [{ at: 0, since: 601 }, true],
  [null, false],
])('a feed that failed %j seconds ago fails for long: %s', (ago, expected) => {
  const said = Object.entries(ago ?? {}).map(([name, seconds]) => [name, new Date(START.getTime() - seconds * 1_000).toISOString()]);
  const failure = ago === null ? null : ({ words: 'silent', ...Object.fromEntries(said) } as { words: string; at: string });
  expect(failsForLong({ failure }, START)).toBe(expected);
});

/** `lag` and `scored`: seconds since the feed was read and since the last scores; null: never. */
test.each<[endpoint: string, mode: 'live' | 'recorded', lag: number | null, scored: number | null, reason: string | null]>([
  ['perps/trades/feed', 'live', 600, 172_801, null],
  ['perps/trades/feed', 'live', 601, 0, 'feed_lag'],
  ['perps/trades/feed', 'live', null, 0, 'feed_lag'],
  ['perps/trades/feed', 'recorded', 1e9, 0, null],
  ['perps/smart-wallets/list', 'live', 0, 172_800, null],
  ['perps/smart-wallets/list', 'live', 0, 172_801, 'score_age'],
  ['perps/smart-wallets/list', 'recorded', 1e9, 172_801, 'score_age'],
  ['perps/smart-wallets/list', 'live', 0, null, null],
])('%s, %s, read %s s and scored %s s ago: %s', (name, mode, lag, scored, reason) => {
  const endpoint = endpoints.find((one) => one.name === name) as Endpoint;
  const ago = (seconds: number | null): Date | null => (seconds === null ? null : new Date(START.getTime() - seconds * 1_000));
  const freshness = { last_event_at: null, watermark: ago(lag), mode, feeds: [] };
  const context = staleError(endpoint, { freshness, scored_at: ago(scored), now: START })?.context;
  const again = { feed_lag: 30, score_age: 300 };
  expect([context?.reason ?? null, context?.retry_after_s]).toEqual([reason, again[reason as keyof typeof again]]);
});
