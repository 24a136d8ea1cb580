import { AppError } from '../src/errors';
import type { VenueName } from '../src/lib/venue-name';
import type { PaidEndpoint } from '../src/gateway/paid';
import { answerInProcess } from './bench/endpoints/answer';
import { recordStatements } from './bench/endpoints/statements';
import type { Input } from './support/ask';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { tablesOpened } from './support/plans';
import { dearestInput, defaultInput, loosestInput } from './support/subjects';
import { type ThreeWorlds, commonWorlds } from './support/three-worlds';

// Facts lie in a partition for each month. What does not say in which months its subjects were there is planned for every month there is, and opens each: it gets dearer
// with each month that a store lives, by milliseconds where it is planned each time. Two years of months in which nothing happened are nothing to any statement but these.

/** Planned once, these open all months, for some hundredths of a millisecond each: what they look for is in any of them, or ranges would have them planned by time. */
const OPEN_ALL: Record<VenueName, readonly string[]> = {
  prediction: [
    'pm_book_conversions',
    'pm_converters',
    'pm_copy_following',
    'pm_copy_steps',
    'pm_fill_prices',
    'pm_fill_prices_opening',
    'pm_market_trades',
    'pm_news_times',
    'pm_position_words',
    'pm_prices_before',
    'pm_shared_sides',
    'pm_smart_holders',
    'pm_told_participants',
    'pm_volumes_before',
    'pm_wallet_market_history',
    'pm_wallet_trades',
    'pm_wallets_holdings',
    'pm_wallets_open_positions',
    'pm_wallets_unrealized',
    'pm_whale_fills',
    // Planned each time: of the whole window that was asked for.
    'pm_copy_counts',
    'pm_copy_own',
  ],
  perps: [
    'perps_coins_trending',
    // Planned each time: a page that the newest weeks do not fill, of the whole window that was asked for.
    'perps_fills_large',
    'perps_fills_scored',
  ],
  lp: [
    // Since when liquidity counts is told by the window's beginning.
    'lp_pools_held',
    // Of the whole window that was asked for.
    'lp_operator_share',
    'lp_whales',
  ],
};

/** Months of two years long before any fact; a window of a year compared with the one before it touches one. */
const OLD = { from: '2023-01-01', to: '2024-12-31', fewest: 2 };
const isOld = (table: string): boolean => /_202[34]\d\d$/.test(table);

let worlds: ThreeWorlds;
let gateway: OpenGateway;

beforeAll(async () => {
  worlds = await commonWorlds();
  const months = `SELECT ensure_month_partitions(relname, $1, $2) FROM pg_class WHERE relkind = 'p' AND relnamespace = 'public'::regnamespace`;
  await worlds.database.pool.query(months, [OLD.from, OLD.to]);
  gateway = await startOpenGateway(worlds.database, worlds.now);
});
afterAll(async () => {
  await gateway.close();
  await worlds.close();
});

/** What cannot be answered has sent its statements too. */
const unlessRefused = (error: unknown): void => {
  if (!(error instanceof AppError)) throw error;
};

/** Names of the statements sent for an answer, each looked at once, that open such months. */
async function openersOf(paid: PaidEndpoint, input: Input, seen = new Set<string>()): Promise<string[]> {
  const { database, now } = worlds;
  const sent = await recordStatements(database, () => answerInProcess(paid, input, database, now).catch(unlessRefused));
  const opened = await tablesOpened(database.url, sent.filter(({ query: { name = '' } }) => !seen.has(name) && seen.add(name))); // prettier-ignore
  const known = OPEN_ALL[paid.endpoint.venue];
  return [...opened].flatMap(([name, tables]) =>
    [...tables].filter(isOld).length <= OLD.fewest || known.some((one) => name.startsWith(one)) ? [] : [name],
  );
}

test.each(['prediction', 'perps', 'lp'] as const)('no statement of %s opens months in which nothing happened', async (venue) => {
  const openers: string[] = [];
  for (const inputOf of [defaultInput, dearestInput, loosestInput]) {
    const seen = new Set<string>();
    for (const paid of gateway.paid.filter(({ endpoint }) => endpoint.venue === venue))
      openers.push(...(await openersOf(paid, inputOf(paid.endpoint, worlds.subjects[venue]), seen)));
  }
  expect(openers).toEqual([]);
});

test.each([
  ['a position that was closed', 'lp/positions/history', 'SELECT position_address FROM lp_position_sum WHERE closed_at IS NOT NULL', {}],
  ['positions of a provider', 'lp/positions/history', 'SELECT owner, pool_address FROM lp_position_sum', {}],
  ['swaps of a pool', 'lp/pools/events', 'SELECT pool_address FROM lp_swap', { event_type: 'swap' }],
])('nor of %s', async (_what, name, subjects, others) => {
  const { rows } = await worlds.database.pool.query<Input>(`${subjects} LIMIT 1`);
  const paid = gateway.paid.find(({ endpoint }) => endpoint.name === name) as PaidEndpoint;
  expect(await openersOf(paid, { ...rows[0], ...others })).toEqual([]);
});
