import { Client, type Pool } from 'pg';
import { openDatabase } from '../../src/db/client';
import { LONG_WORK, inTransaction, writersTurn } from '../../src/db/transaction';
import { pause } from '../../src/lib/deadline';
import type { VenueName } from '../../src/lib/venue-name';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/lib/time';
import { wingOf } from '../support/world';
import { type Figure, printTable, timed } from './measure';
import { spending } from './spent';
import { WORLD_NOW, byPage, loadAll, simulatorOf } from './world-build';
import { openBenchWorld, VENUES } from './worlds';

// What a page costs that a live feed adds to much that is there: the next minutes of a kept world, read into a copy of it two at a time. Then the scores of the
// next day: how long they take, and how long at most a feed waits meanwhile for its turn to write.
// BENCH_VENUE=prediction|perps|lp (all), BENCH_SIZES=facts,facts (100000,300000), BENCH_HOURS read (1).

const SIZES = (process.env.BENCH_SIZES ?? '100000,300000').split(',').map(Number);
const READ_MS = Number(process.env.BENCH_HOURS ?? 1) * HOUR_MS;
const POLL_MS = 2 * MINUTE_MS;

/** Runs `work` on a copy of a database that nobody has open. */
async function onCopy<T>(url: string, work: (url: string) => Promise<T>): Promise<T> {
  const [of, copy] = [new URL(url), new URL(url)];
  copy.pathname = `${of.pathname}_live`;
  const server = new URL(url);
  server.pathname = '/postgres';
  const admin = new Client({ connectionString: server.href });
  await admin.connect();
  try {
    await admin.query(`DROP DATABASE IF EXISTS ${copy.pathname.slice(1)} WITH (FORCE)`);
    await admin.query(`CREATE DATABASE ${copy.pathname.slice(1)} TEMPLATE ${of.pathname.slice(1)}`);
    return await work(copy.href);
  } finally {
    await admin.query(`DROP DATABASE IF EXISTS ${copy.pathname.slice(1)} WITH (FORCE)`);
    await admin.end();
  }
}

/** Runs `work` while somebody asks for the turn to write every tenth of a second. Resolves to the longest time, in milliseconds, that it was waited for. */
async function longestWait(pool: Pool, venue: VenueName, work: () => Promise<unknown>): Promise<number> {
  let [longest, over] = [0, false];
  const asking = (async () => {
    for (; !over; await pause(100)) {
      const begun = performance.now();
      await inTransaction(pool, async () => undefined, `${LONG_WORK}; ${writersTurn(venue)}`);
      longest = Math.max(longest, performance.now() - begun);
    }
  })();
  await work().finally(() => (over = true));
  await asking;
  return longest;
}

async function readOn(name: VenueName, size: number, url: string): Promise<Figure> {
  const [venue, simulator] = [wingOf(name), simulatorOf(name, size, 1)];
  const until = WORLD_NOW.getTime() + READ_MS;
  const pages = Array.from({ length: Math.ceil(READ_MS / POLL_MS) }, (_, poll) => {
    const from = WORLD_NOW.getTime() + poll * POLL_MS;
    return [...simulator.pages(new Date(from), new Date(Math.min(until, from + POLL_MS)))];
  }).flat();
  const db = await openDatabase(url, { statement_timeout_ms: 0 });
  try {
    const { result, seconds, cpu } = await spending(db.pool, () => loadAll(byPage(db.pool, venue), venue, pages));
    const nextDay = new Date(Math.ceil(WORLD_NOW.getTime() / DAY_MS) * DAY_MS + MINUTE_MS);
    const scored = await timed(() => longestWait(db.pool, name, async () => venue.score?.(db.pool, nextDay, () => undefined)));
    return {
      what: name,
      world: size,
      pages: pages.length,
      facts: result.facts,
      seconds: Number(seconds.toFixed(1)),
      'processor ms a page': Number(((cpu * 1_000) / pages.length).toFixed(1)),
      'a fact': Number(((cpu * 1_000) / result.facts).toFixed(2)),
      'scores, s': Number(scored.seconds.toFixed(1)),
      'feeds wait for them at most, s': Number((scored.result / 1_000).toFixed(1)),
    };
  } finally {
    await db.close();
  }
}

test.each(VENUES)('%s', async (name) => {
  const rows: Figure[] = [];
  for (const size of SIZES) {
    const world = await openBenchWorld(name, size);
    // The server stays as long as the world is held, whose own connections would be in the copy's way.
    await world.pool.end();
    try {
      rows.push(await onCopy(world.url, (url) => readOn(name, size, url)));
      process.stderr.write(`${JSON.stringify(rows.at(-1))}\n`);
    } finally {
      await world.close();
    }
  }
  printTable(`${name}, ${READ_MS / HOUR_MS} h read in pages of two minutes`, rows);
});
