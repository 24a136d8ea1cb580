import { realClock } from '../../src/lib/clock';
import { quantile } from '../../src/observability/recent';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import { startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import { predictionFeeds } from '../../src/venues/prediction/sources/live';
import { testDatabase } from '../support/database';
import { noFigures, runnerOf, until } from '../support/feeds';
import { printTable } from './measure';

// From an event of the pretended upstream to its being in answers: production's own polling, on the real clock. The goal is a p99 below 10 s.

const SIZE = 1_500_000;
const EVENTS = 100;

test('prediction: seconds from event to visible', async () => {
  const db = await testDatabase();
  const start = new Date(Date.now() - 86_400_000);
  const upstream = await startPredictionUpstream({
    world: predictionWorld({ seed: 1, size: SIZE, start }),
    since: new Date(Date.now() - 60_000),
    clock: realClock,
  });
  // The world's first day is lived at the first question: not what is measured.
  await fetch(`${upstream.urls.data}/trades?limit=1`);
  await db.pool.query(
    `INSERT INTO source_cursor (source, venue, cursor, watermark) SELECT source, 'prediction', '{}', now() FROM unnest(ARRAY['prediction.trades', 'prediction.markets', 'prediction.activity']) AS source`,
  );
  const lags = new Map<string, number[]>();
  const began = Date.now();
  // The first poll looks back: what happened before it began is no measure.
  const visible = (feed: string, seconds: number): void => {
    if (Date.now() - seconds * 1_000 >= began) lags.set(feed, [...(lags.get(feed) ?? []), seconds]);
  };
  const runner = runnerOf(db.pool, 'prediction', predictionFeeds(upstream.urls), realClock, { ...noFigures, visible });
  runner.start();
  const count = (): number => [...lags.values()].reduce((sum, { length }) => sum + length, 0);
  await until(async () => count() >= EVENTS, `${EVENTS} events`, 1_200_000);
  await runner.stop();
  await upstream.stop();
  await db.drop();
  const rows = [...lags].map(([feed, seconds]) => ({
    what: feed,
    events: seconds.length,
    'p50 s': (quantile(seconds, 0.5) ?? 0).toFixed(1),
    'p99 s': (quantile(seconds, 0.99) ?? 0).toFixed(1),
  }));
  printTable(
    `From event to visible, prediction, ${Math.round((count() * 60_000) / (Date.now() - began))} events a minute, polled every 2 s`,
    rows,
  );
});
