import type { Pool } from 'pg';
import { pearson } from '../../src/lib/statistics';
import { HOUR_MS } from '../../src/lib/time';
import type { VenueName } from '../../src/lib/venue-name';
import { backfill } from '../../src/workers/ingest';
import { openPage } from '../../src/workers/pages';
import { upstreamFill } from '../support/converters/perps/full-columns';
import { testDatabase } from '../support/database';
import { realData } from '../support/real-data';
import { wingOf } from '../support/world';
import { countsOf, distanceOf, hoursOf, rhythmOf, sumsOf, tailOf } from './likeness';
import { type Figure, printTable } from './measure';
import { WORLD_SCORED, WORLD_START, loadAll, simulatorOf } from './world-build';
import { VENUES } from './worlds';

// How close a simulated world comes to recorded data: heavy tails, who does how much of it, and the rhythm of the day. Needs the recordings beside the
// repository (test/support/real-data.ts). BENCH_LIKENESS facts a venue (200000), BENCH_VENUE, BENCH_SEED.

const SEED = Number(process.env.BENCH_SEED ?? 1);
const FACTS = Number(process.env.BENCH_LIKENESS ?? 200_000);
const FOLDERS: Record<VenueName, string> = { prediction: 'prediction-market', perps: 'perps', lp: 'pools' };

type Row = Record<string, string>;

/** Rows of a recorded file of the venue. */
async function recorded<T = Row>(venue: VenueName, file: string): Promise<T[]> {
  const rows: T[] = [];
  for await (const row of openPage(realData(`real/${FOLDERS[venue]}/${file}`) as string).records) rows.push(row as T);
  return rows;
}

/** The same thing as recorded and as simulated. */
interface Pair<T> {
  what: string;
  recorded: T[];
  simulated: T[];
}

/** What is compared of a venue: amounts > 0, and instants. */
interface Compared {
  amounts: Pair<number>[];
  times: Pair<Date>[];
}

/** The first column of what a statement finds in the loaded world. */
const column = async <T>(db: Pool, text: string): Promise<T[]> =>
  (await db.query<[T]>({ text, rowMode: 'array' })).rows.map(([value]) => value);

const numbers = (rows: readonly Row[], key: string): number[] => rows.map((row) => Number(row[key]));

/** From here on a buy counts as large in the recording of large ones. */
const LARGE_USD = 500;

async function predictionOf(db: Pool): Promise<Compared> {
  const esports = await recorded('prediction', 'trades-esports-2026-01-08.csv.gz');
  const months = await recorded('prediction', 'trades-112-markets-2025-10_2026-03.csv.gz');
  const fed = [
    ...(await recorded('prediction', 'trades-fed-march-2026-a.csv.gz')),
    ...(await recorded('prediction', 'trades-fed-march-2026-b.csv.gz')),
  ];
  const large = await recorded<{ timestamp: number }>('prediction', 'trades-large-buys-2026-01_2026-02.ndjson.gz');
  const wallets = await recorded('prediction', 'wallet-lifetime-stats-2026-05.csv.gz');
  const markets = await recorded<{ volume: number }>('prediction', 'markets-resolved-tagged.ndjson.gz');
  const { rows: trades } = await db.query<{ who: string; usd: number; side: string; at: Date }>(
    `SELECT wallet AS who, usdc_size::float8 AS usd, side, "timestamp" AS at FROM pm_trade WHERE side IN ('BUY', 'SELL') ORDER BY "timestamp", trade_id`,
  );
  // As many in a row as were recorded of a day, from the middle of the world.
  const stretch = trades.slice(trades.length / 2, trades.length / 2 + esports.length);
  const amounts = trades.map(({ usd }) => usd);
  return {
    amounts: [
      {
        what: 'USDC of a trade, a day of esports',
        recorded: esports.map(({ size, price }) => Number(size) * Number(price)),
        simulated: amounts,
      },
      {
        what: 'USDC of a trade, 112 markets',
        recorded: months.map(({ amount, price }) => Number(amount) * Number(price)),
        simulated: amounts,
      },
      { what: 'USDC of a trade, one event', recorded: numbers(fed, 'total_trade_amount'), simulated: amounts },
      {
        what: 'trades of a wallet among as many in a row',
        recorded: countsOf(esports.map(({ proxyWallet }) => proxyWallet as string)),
        simulated: countsOf(stretch.map(({ who }) => who)),
      },
      {
        what: 'USDC of a wallet among them',
        recorded: sumsOf(esports.map(({ proxyWallet, size, price }) => [proxyWallet as string, Number(size) * Number(price)])),
        simulated: sumsOf(stretch.map(({ who, usd }) => [who, usd])),
      },
      {
        what: 'USDC of a wallet ever',
        recorded: numbers(wallets, 'lifetime_volume_usd'),
        simulated: sumsOf(trades.map(({ who, usd }) => [who, usd])),
      },
      {
        what: 'gain or loss of a wallet ever',
        recorded: numbers(wallets, 'lifetime_profit_usd').map(Math.abs),
        simulated: await column<number>(db, 'SELECT abs(sum(gain))::float8 FROM pm_position GROUP BY wallet'),
      },
      {
        what: 'volume of a resolved market',
        recorded: markets.map(({ volume }) => Number(volume)),
        simulated: await column<number>(
          db,
          `SELECT sum(usdc_size)::float8 FROM pm_trade JOIN pm_market USING (condition_id) WHERE resolved_at IS NOT NULL AND side IN ('BUY', 'SELL') GROUP BY condition_id`,
        ),
      },
    ],
    times: [
      {
        what: 'trades of 112 markets',
        recorded: months.map(({ trade_date }) => new Date(trade_date as string)),
        simulated: trades.map(({ at }) => at),
      },
      {
        what: 'large buys',
        recorded: large.map(({ timestamp }) => new Date(timestamp * 1_000)),
        simulated: trades.filter(({ side, usd }) => side === 'BUY' && usd >= LARGE_USD).map(({ at }) => at),
      },
    ],
  };
}

type Block = { events: [string, { coin: string; px: string; sz: string; crossed: boolean }][] };

async function perpsOf(db: Pool): Promise<Compared> {
  const fills = (await recorded<Block>('perps', 'node-fills-by-block-2025-10-27T17.ndjson.gz'))
    .flatMap(({ events }) => events)
    .filter(([, { coin }]) => !/[@/]/.test(coin));
  const years = await recorded('perps', 'fills-32-accounts-5col-2023_2025.csv.gz');
  const candles = await Promise.all(
    ['STRK', 'MET', 'ZEC', 'ASTER'].map((coin) =>
      recorded<{ timestamp: number; close: number }>('perps', `candles-1m-${coin}-2025-11.ndjson.gz`),
    ),
  );
  const usdOf = ({ px, sz }: { px: string; sz: string }): number => Number(px) * Number(sz);
  const takers = fills.filter(([, { crossed }]) => crossed);
  const { rows } = await db.query<{ who: string; usd: number; at: Date }>(
    'SELECT trader AS who, usd_value::float8 AS usd, "timestamp" AS at FROM perp_fill ORDER BY "timestamp", tid, is_buy',
  );
  const stretch = rows.slice(rows.length / 2, rows.length / 2 + fills.length);
  return {
    amounts: [
      {
        what: 'dollars of a match, 81 seconds of everybody',
        recorded: takers.map(([, fill]) => usdOf(fill)),
        simulated: await column<number>(db, 'SELECT usd_value::float8 FROM perp_match'),
      },
      { what: 'dollars of a fill, 32 accounts', recorded: numbers(years, 'Size USD'), simulated: rows.map(({ usd }) => usd) },
      {
        what: 'fills of an account among as many in a row',
        recorded: countsOf(fills.map(([who]) => who)),
        simulated: countsOf(stretch.map(({ who }) => who)),
      },
      {
        what: 'dollars of an account among them',
        recorded: sumsOf(fills.map(([who, fill]) => [who, usdOf(fill)])),
        simulated: sumsOf(stretch.map(({ who, usd }) => [who, usd])),
      },
      {
        what: 'dollars of a coin',
        recorded: sumsOf(takers.map(([, fill]) => [fill.coin, usdOf(fill)])),
        simulated: await column<number>(db, 'SELECT sum(usd_value)::float8 FROM perp_match GROUP BY coin'),
      },
      {
        what: 'gain or loss of a closing fill, 32 accounts',
        recorded: numbers(years, 'Closed PnL').map(Math.abs),
        simulated: await column<number>(db, 'SELECT abs(closed_pnl)::float8 FROM perp_fill WHERE closed_pnl <> 0'),
      },
      {
        what: 'move of a price in an hour',
        recorded: candles.flatMap((minutes) => movesOf(minutes.map(({ timestamp, close }) => [timestamp, close]))),
        simulated: await hourlyMoves(db),
      },
    ],
    times: [
      {
        what: 'fills of 32 accounts',
        recorded: years.map((row) => new Date(upstreamFill(row)[1].time as number)),
        simulated: rows.map(({ at }) => at),
      },
    ],
  };
}

/** Absolute moves from the last price of each hour to that of the next, of [milliseconds, price] in order of time. */
function movesOf(prices: readonly (readonly [number, number])[]): number[] {
  const last = new Map(prices.map(([at, price]) => [Math.floor(at / HOUR_MS), price]));
  return [...last].flatMap(([hour, price]) => (last.has(hour + 1) ? [Math.abs(Math.log((last.get(hour + 1) as number) / price))] : []));
}

async function hourlyMoves(db: Pool): Promise<number[]> {
  const { rows } = await db.query<{ coin: string; at: Date; price: number }>(
    'SELECT coin, "timestamp" AS at, price::float8 AS price FROM perp_match ORDER BY "timestamp", tid',
  );
  const coins = [...new Set(rows.map(({ coin }) => coin))];
  return coins.flatMap((coin) => movesOf(rows.filter((row) => row.coin === coin).map(({ at, price }) => [at.getTime(), price])));
}

type Closed = { deployed_at: string; minutes_held: number; pnl_pct: number; fee_earned_pct: number; initial_value_usd: number };

async function poolsOf(db: Pool): Promise<Compared> {
  const members = await recorded('lp', 'pool-participants-2025-07_2025-10.csv.gz');
  const closed = await recorded<Closed>('lp', 'lp-closed-positions-pnl-2026-06_2026-07.ndjson.gz');
  const bots = await recorded<{ deployed_at: string; closed_at: string | null }>('lp', 'lp-positions-4-bots-2026.ndjson.gz');
  const held = await column<number>(
    db,
    'SELECT extract(epoch FROM closed_at - opened_at)::float8 / 60 FROM lp_position WHERE closed_at IS NOT NULL',
  );
  const sums = (what: string): Promise<number[]> =>
    column<number>(db, `SELECT (${what})::float8 FROM lp_position_sum WHERE closed_at IS NOT NULL AND deposited_usd > 0`);
  return {
    amounts: [
      {
        what: 'providers of a pool',
        recorded: countsOf(members.map(({ pool }) => pool as string)),
        simulated: await column<number>(
          db,
          'SELECT count(DISTINCT owner)::float8 FROM lp_event WHERE owner IS NOT NULL GROUP BY pool_address',
        ),
      },
      {
        what: 'pools of a provider',
        recorded: countsOf(members.map(({ wallet }) => wallet as string)),
        simulated: await column<number>(
          db,
          'SELECT count(DISTINCT pool_address)::float8 FROM lp_event WHERE owner IS NOT NULL GROUP BY owner',
        ),
      },
      { what: 'dollars put into a position', recorded: closed.map((row) => row.initial_value_usd), simulated: await sums('deposited_usd') },
      {
        what: 'minutes a position is held, own bot',
        recorded: closed.map((row) => row.minutes_held),
        simulated: held,
      },
      {
        what: 'minutes a position is held, four bots',
        recorded: bots
          .filter((row) => row.closed_at)
          .map((row) => (Date.parse(row.closed_at as string) - Date.parse(row.deployed_at)) / 60_000),
        simulated: held,
      },
      {
        what: 'gain or loss of a position, percent',
        recorded: closed.map((row) => Math.abs(row.pnl_pct)),
        simulated: await sums('100 * abs(withdrawn_usd + claimed_usd - deposited_usd) / deposited_usd'),
      },
      {
        what: 'fees of a position, percent',
        recorded: closed.map((row) => row.fee_earned_pct),
        simulated: await sums('100 * claimed_usd / deposited_usd'),
      },
    ],
    times: [
      {
        what: 'positions opened',
        recorded: [...closed, ...bots].map((row) => new Date(row.deployed_at)),
        simulated: await column<Date>(db, 'SELECT opened_at FROM lp_position WHERE opened_at IS NOT NULL'),
      },
    ],
  };
}

const COMPARE: Record<VenueName, (db: Pool) => Promise<Compared>> = { prediction: predictionOf, perps: perpsOf, lp: poolsOf };

const short = (x: number): string => (x >= 100 ? Math.round(x).toLocaleString('en') : x.toPrecision(2));

/** A figure of both sides. */
const both = (a: number, b: number): string => `${short(a)}, ${short(b)}`;

const tailFigure = ({ what, recorded: real, simulated }: Pair<number>): Figure => {
  const [a, b] = [tailOf(real), tailOf(simulated)];
  return {
    what,
    n: `${a.n.toLocaleString('en')}, ${b.n.toLocaleString('en')}`,
    median: both(a.median, b.median),
    'p90 / median': both(a.p90, b.p90),
    'p99 / median': both(a.p99, b.p99),
    'largest 1 % hold': `${Math.round(100 * a.top)}, ${Math.round(100 * b.top)} %`,
    distance: distanceOf(real, simulated).toFixed(2),
  };
};

const hoursFigure = ({ what, recorded: real, simulated }: Pair<Date>): Figure => {
  const [a, b] = [hoursOf(real), hoursOf(simulated)];
  const [x, y] = [rhythmOf(a), rhythmOf(b)];
  return {
    what,
    n: `${real.length.toLocaleString('en')}, ${simulated.length.toLocaleString('en')}`,
    'busiest hour, x mean': `${x.at}h ${short(x.busiest)}, ${y.at}h ${short(y.busiest)}`,
    'quietest hour, x mean': `${x.quiet_at}h ${short(x.quietest)}, ${y.quiet_at}h ${short(y.quietest)}`,
    correlation: (pearson(a, b) ?? 0).toFixed(2),
  };
};

const withRecords = VENUES.every((venue) => realData(`real/${FOLDERS[venue]}`) !== null);

(withRecords ? test.each(VENUES) : test.skip.each(VENUES))('%s beside recorded data (skipped where that is absent)', async (name) => {
  const db = await testDatabase();
  try {
    const venue = wingOf(name);
    await backfill(db.pool, venue, (load) => loadAll(load, venue, simulatorOf(name, FACTS, SEED).pages(WORLD_START, WORLD_SCORED)));
    const { amounts, times } = await COMPARE[name](db.pool);
    printTable(`${name}: recorded, simulated`, amounts.map(tailFigure));
    printTable(`${name}: hours of the day, UTC; recorded, simulated`, times.map(hoursFigure));
  } finally {
    await db.drop();
  }
});
