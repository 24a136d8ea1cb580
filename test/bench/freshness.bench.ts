import { realClock } from '../../src/lib/clock';
import { DAY_MS, MINUTE_MS } from '../../src/lib/time';
import { nearestRank } from '../../src/lib/statistics';
import { lpWorld } from '../../src/sandbox/simulator/lp';
import { perpsWorld } from '../../src/sandbox/simulator/perps';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { startPoolsUpstream } from '../../src/sandbox/venues/lp';
import { startPerpsUpstream } from '../../src/sandbox/venues/perps';
import { startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import { lpFeeds } from '../../src/venues/lp/sources/live';
import { perpsFeeds } from '../../src/venues/perps/sources/live';
import { pathOf } from '../../src/venues/perps/sources/live-blocks';
import { predictionFeeds } from '../../src/venues/prediction/sources/live';
import { testDatabase } from '../support/database';
import { noFigures, runnerOf, until } from '../support/feeds';
import { type Figure, printTable } from './measure';

// From an event of a pretended upstream to its being in answers: production's own polling, on the real clock. The goal is a p99 below 10 s.

const SIZE = 1_500_000;
const EVENTS = 100;

const start = new Date(Date.now() - DAY_MS);
const options = { seed: 1, size: SIZE, start };
const lived = { since: new Date(Date.now() - MINUTE_MS), clock: realClock };

const STARTS = {
  prediction: async () => {
    const upstream = await startPredictionUpstream({ world: predictionWorld(options), ...lived });
    // The world's first day is lived at the first question: not what is measured.
    await fetch(`${upstream.urls.data}/trades?limit=1`);
    return { upstream, feeds: predictionFeeds(upstream.urls) };
  },
  perps: async () => {
    const upstream = await startPerpsUpstream({ world: perpsWorld(options), ...lived });
    await fetch(`${upstream.urls.archive}${pathOf(lived.since.getTime())}`);
    return { upstream, feeds: perpsFeeds(upstream.urls) };
  },
  lp: async () => {
    const upstream = await startPoolsUpstream({ world: lpWorld(options), ...lived });
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSlot', params: [] });
    await fetch(upstream.urls.rpc ?? '', { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    return { upstream, feeds: lpFeeds(upstream.urls) };
  },
};

test.each(['prediction', 'perps', 'lp'] as const)('%s: seconds from event to visible', async (venue) => {
  const db = await testDatabase();
  const { upstream, feeds } = await STARTS[venue]();
  const recorded = feeds.flatMap(({ continues }) => (continues === null ? [] : [continues]));
  await db.pool.query(
    `INSERT INTO source_cursor (source, venue, cursor, watermark) SELECT DISTINCT source, $2, '{}'::jsonb, now() FROM unnest($1::text[]) AS source`,
    [recorded, venue],
  );
  const lags = new Map<string, number[]>();
  const began = Date.now();
  // The first poll looks back: what happened before it began is no measure.
  const visible = (feed: string, seconds: number): void => {
    if (Date.now() - seconds * 1_000 >= began) lags.set(feed, [...(lags.get(feed) ?? []), seconds]);
  };
  const runner = runnerOf(db.pool, venue, feeds, realClock, { ...noFigures, visible });
  runner.start();
  const count = (): number => [...lags.values()].reduce((sum, { length }) => sum + length, 0);
  await until(async () => count() >= EVENTS, `${EVENTS} events`, 1_200_000);
  await runner.stop();
  await upstream.stop();
  await db.drop();
  const rows = [...lags].map(([feed, seconds]): Figure => ({
    what: feed,
    events: seconds.length,
    'p50 s': (nearestRank(seconds, 0.5) ?? 0).toFixed(1),
    'p99 s': (nearestRank(seconds, 0.99) ?? 0).toFixed(1),
  }));
  printTable(`From event to visible, ${venue}, ${Math.round((count() * MINUTE_MS) / (Date.now() - began))} events a minute`, rows);
});
