import { lpWorld } from '../../src/sandbox/simulator/lp';
import { predictionWorld } from '../../src/sandbox/simulator/prediction';
import type { VenueWorld } from '../../src/sandbox/simulator/world';
import { startPoolsUpstream } from '../../src/sandbox/venues/lp';
import { startPredictionUpstream } from '../../src/sandbox/venues/prediction';
import type { PretendUpstream } from '../../src/sandbox/venues/upstream-server';
import { DLMM_PROGRAM } from '../../src/venues/lp/chain-addresses';

const HOUR = 3_600_000;
const start = new Date('2026-01-30T00:00:00Z');
const options = { seed: 3, size: 3_000, start: new Date('2026-01-01T00:00:00Z') };

/** How many hours before `now` the oldest is of what an upstream tells. */
const OLDEST: Record<string, (urls: Readonly<Record<string, string>>, now: Date) => Promise<number>> = {
  prediction: async ({ data }, now) => {
    const second = Math.floor(now.getTime() / 1_000);
    for (let hours = 200; ; hours -= 2) {
      const [from, to] = [second - hours * 3_600, second - (hours - 2) * 3_600];
      const rows = (await (await fetch(`${data}/trades?limit=1&start=${from}&end=${to}&takerOnly=false`)).json()) as unknown[];
      if (rows.length > 0) return hours;
    }
  },
  lp: async ({ rpc }, now) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress', params: [DLMM_PROGRAM, { limit: 1_000 }] });
    const { result } = (await (await fetch(rpc as string, { method: 'POST', body })).json()) as { result: { blockTime: number }[] };
    return (now.getTime() / 1_000 - Math.min(...result.map(({ blockTime }) => blockTime))) / 3_600;
  },
};

test.each([
  ['prediction', predictionWorld, startPredictionUpstream],
  ['lp', lpWorld, startPoolsUpstream],
] as const)(
  'a pretended upstream of %s tells those who were away for days all that they missed, and forgets it a day later',
  async (venue, make, begin) => {
    let now = new Date(start.getTime() + 6 * 24 * HOUR);
    const clock = { now: () => now };
    const upstream = await (begin as (given: { world: VenueWorld; since: Date; clock: { now(): Date } }) => Promise<PretendUpstream>)({
      world: make(options),
      since: start,
      clock,
    });
    const oldest = (): Promise<number> => (OLDEST[venue] as (typeof OLDEST)[string])(upstream.urls, now);
    const later = async (hours: number): Promise<void> => {
      for (let hour = 0; hour < hours; hour += 0.5) {
        now = new Date(now.getTime() + HOUR / 2);
        await oldest();
      }
    };
    expect(await oldest()).toBeGreaterThan(130);
    now = new Date(now.getTime() + 1_000);
    expect(await oldest()).toBeGreaterThan(130);
    await later(28);
    expect(await oldest()).toBeLessThan(29);
    // A machine that slept.
    now = new Date(now.getTime() + 4 * 24 * HOUR);
    expect(await oldest()).toBeGreaterThan(100);
    now = new Date(now.getTime() + 1_000);
    expect(await oldest()).toBeGreaterThan(100);
    await upstream.stop();
  },
  300_000,
);
