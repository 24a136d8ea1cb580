import type { Pool } from 'pg';
import { lpWorld, type LpWorld } from '../../../src/sandbox/simulator/lp';
import type { WorldPage } from '../../../src/sandbox/simulator/world';
import { type TestDatabase, copyOfFilled } from '../../support/database';
import { loadAtOnce } from '../../support/world';
import { loadRecords } from './load';

export const START = new Date('2026-01-01T00:00:00Z');

/** A small simulated world and its pages of so many days. */
export function simulated(size: number, days: number, seed = 7): { world: LpWorld; pages: WorldPage[]; end: Date } {
  const world = lpWorld({ seed, size, start: START });
  const end = new Date(START.getTime() + days * 86_400_000);
  return { world, pages: [...world.pages(START, end)], end };
}

/** Loads pages one by one, in this order. */
export async function loadPages(pool: Pool, pages: readonly WorldPage[]): Promise<void> {
  for (const page of pages) await loadRecords(pool, page.name, page.records, page.format);
}

/** A store of the caller's own that holds such a world: loaded once a run, copied for each test file. */
export const storeOf = (size: number, days: number): Promise<TestDatabase> =>
  copyOfFilled(`lp_${size}_${days}`, async ({ pool }) => void (await loadAtOnce(pool, 'lp', simulated(size, days).pages)));
