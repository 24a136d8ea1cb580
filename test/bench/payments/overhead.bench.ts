import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbedded } from '../../../src/db/embedded';
import { migrate } from '../../../src/db/migrate';
import { nearestRank } from '../../../src/lib/statistics';
import type { BuyerProtocol } from '../../../src/sandbox/buyer';
import { ROOT } from '../../support/root';
import { type Figure, printTable } from '../measure';
import { startChild } from '../child';
import type { OverheadSettings, Sample } from './overhead';

const SIZE = { rounds: 4, warm_ups: 8, batch: 80 };
const DATABASES: [string, Record<string, string>][] = [
  ['every commit on disk', {}],
  ['commits not waited for', { synchronous_commit: 'off' }],
];

test.each(DATABASES)('payments.charge without the chain, %s', async (what, options) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-overhead-'));
  const database: EmbeddedPostgres = await startEmbedded(path.join(folder, 'pg'), options);
  try {
    await migrate(database.url, path.join(ROOT, 'prisma/migrations'));
    const settings: OverheadSettings = { folder, databaseUrl: database.url, ...SIZE };
    const child = await startChild<Record<BuyerProtocol, Sample[]>>('payments/overhead.ts', settings);
    await child.stop();
    const rows = Object.entries(child.ready).map(([protocol, samples]) => row(protocol, samples));
    printTable(`payments.charge from proof to receipt, recorded chain answers, ${what}`, rows);
  } finally {
    await database.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
});

function row(protocol: string, samples: Sample[]): Figure {
  const of = (pick: (sample: Sample) => number, q: number): number => Number((nearestRank(samples.map(pick), q) as number).toFixed(2));
  return {
    what: protocol,
    runs: samples.length,
    'p10 ms': of(({ total }) => total, 0.1),
    'p50 ms': of(({ total }) => total, 0.5),
    'p99 ms': of(({ total }) => total, 0.99),
    'p50 waiting for PostgreSQL': of(({ sql }) => sql, 0.5),
    'p50 of the rest': of(({ total, sql }) => total - sql, 0.5),
    'p50 CPU ms': of(({ cpu }) => cpu, 0.5),
    statements: of(({ statements }) => statements, 0.5),
    'chain calls': of(({ calls }) => calls, 0.5),
  };
}
