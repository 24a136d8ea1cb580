import path from 'node:path';
import { ingestFrom } from '../workers/ingest';
import { dropSnapshots } from '../workers/snapshots';
import { VENUES } from '../wings';
import { type Command, parseOptions } from './command';
import { withDatabase } from './open';
import { progressBar } from './progress';

const USAGE = 'npm run ingest -- --venue prediction|perps|lp --from FILE_OR_FOLDER [--account 0x…] [--rollups later]';

/** Loads recorded upstream pages. The last line printed is JSON: {venue, read, inserted, duplicates, skipped}. */
export const command: Command = async (args, place) => {
  const options = parseOptions(args, ['venue', 'from', 'account', 'rollups'], USAGE);
  const venue = VENUES.find((candidate) => candidate.name === options.venue);
  if (venue === undefined || options.from === undefined || (options.rollups ?? 'later') !== 'later') throw new Error(`Usage: ${USAGE}`);
  const location = path.resolve(process.env.INIT_CWD ?? process.cwd(), options.from);
  const bar = progressBar('  {value} records, {duration_formatted}', process.stderr, 5_000);
  return withDatabase(place, async (db) => {
    const started = performance.now();
    bar.start(0, 0);
    const load = { account: options.account, rollups: options.rollups === 'later' ? ('later' as const) : undefined };
    const report = await ingestFrom(db.pool, venue, location, load, {
      page: (name, source) =>
        process.stderr.write(source === null ? `\n${name}: not a format of ${venue.name}, skipped\n` : `\n${name}: ${source}\n`),
      progress: (records) => bar.increment(records),
    }).finally(() => bar.stop());
    await dropSnapshots(db.pool, venue);
    const seconds = (performance.now() - started) / 1_000;
    process.stderr.write(`${report.read} records in ${seconds.toFixed(1)} s (${Math.round(report.read / seconds)} a second)\n`);
    if (report.inserted > 0) process.stderr.write('Scores count it in once they are run: npm run score (a server runs them every day).\n');
    process.stdout.write(`${JSON.stringify({ venue: venue.name, ...report })}\n`);
    return report.read === 0 && report.skipped.unrecognised_file !== undefined ? 1 : 0;
  });
};
