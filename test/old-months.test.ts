import { AppError } from '../src/errors';
import type { VenueName } from '../src/lib/venue-name';
import { answerInProcess } from './bench/endpoints/answer';
import { plainClients, recordStatements } from './bench/endpoints/statements';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { tablesOf } from './support/plans';
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
  perps: [],
  lp: [],
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

test.each(['prediction'] as const)('no statement of %s opens months in which nothing happened', async (venue) => {
  const { database, now } = worlds;
  const clients = await plainClients(database.url);
  const opened = new Map<string, number>();
  try {
    for (const inputOf of [defaultInput, dearestInput, loosestInput]) {
      const seen = new Set<string>();
      for (const paid of gateway.paid.filter(({ endpoint }) => endpoint.venue === venue)) {
        const input = inputOf(paid.endpoint, worlds.subjects[venue]);
        const sent = await recordStatements(database, () => answerInProcess(paid, input, database, now).catch(unlessRefused));
        for (const statement of sent) {
          const { name = '', text } = statement.query;
          if (!/^\s*(SELECT|WITH)/.test(text) || seen.has(name)) continue;
          seen.add(name);
          const months = [...(await tablesOf(clients, statement))].filter(isOld).length;
          if (months > OLD.fewest) opened.set(name, months);
        }
      }
    }
  } finally {
    await clients.end();
  }
  const isKnown = (name: string): boolean => OPEN_ALL[venue].some((known) => name.startsWith(known));
  expect([...opened.keys()].filter((name) => !isKnown(name))).toEqual([]);
});
