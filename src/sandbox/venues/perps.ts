import type { Clock } from '../../lib/clock';
import { addTo } from '../../lib/grouped';
import { HOUR_MS } from '../../lib/time';
import { numberOfBlock } from '../simulator/perps/session';
import type { PerpsWorld } from '../simulator/perps';
import { archiveTime } from '../simulator/perps/wire';
import type { WorldPage } from '../simulator/world';
import { Past } from './past';
import { type PretendUpstream, type Reply, startUpstreamServer } from './upstream-server';

/** How often there is a block without fills, at multiples of it: they tell how far the venue is. */
const QUIET_MS = 10_000;

export interface PerpsUpstreamOptions {
  world: PerpsWorld;
  /** The files begin with this hour. */
  since: Date;
  clock: Clock;
  seed?: number;
}

/**
 * A node's hourly files of fills by block, which grow as the clock goes (`GET /node_fills_by_block/hourly/YYYYMMDD/H`, with ranges), and
 * the venue's `POST /info` (`meta`, `perpDexs`, `userRole`), over a simulated world.
 */
export async function startPerpsUpstream({ world, since, clock, seed = 1 }: PerpsUpstreamOptions): Promise<PretendUpstream> {
  const past = new PerpsPast(world, new Date(Math.floor(since.getTime() / HOUR_MS) * HOUR_MS));
  const server = await startUpstreamServer(async ({ method, path, headers, body }) => {
    const file = FILE.exec(path);
    if (file === null && path !== '/info') return undefined;
    await past.live(clock.now());
    if (file !== null) return fileReply(past.fileOf(file[1] as string, Number(file[2])), headers.range);
    return method === 'POST' ? infoReply(world, clock.now(), body) : undefined;
  }, seed);
  return { urls: { archive: server.url, info: server.url }, faults: server.faults, stop: () => server.stop() };
}

const timeOf = ({ block_time }: { block_time: string }): number => Date.parse(`${block_time.slice(0, 23)}Z`);

const FILE = /^\/node_fills_by_block\/hourly\/(\d{8})\/(\d{1,2})$/;

/** A file or the range of it that is asked for, as static servers answer. */
function fileReply(file: Buffer | undefined, range: string | undefined): Reply | undefined {
  if (file === undefined) return undefined;
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? [];
  if (first === undefined || last === undefined) return { status: 200, body: null, text: file };
  if (Number(first) >= file.length) return { status: 416, body: null };
  return { status: 206, body: null, text: file.subarray(Number(first), Number(last) + 1) };
}

function infoReply(world: PerpsWorld, now: Date, body: unknown): Reply {
  const { type, dex = '', user } = (body ?? {}) as { type?: unknown; dex?: unknown; user?: unknown };
  const dexOf = (name: string): string => (name.includes(':') ? (name.split(':')[0] as string) : '');
  const { universe: coins } = world.meta(now);
  if (type === 'meta') {
    const universe = coins.filter(({ name }) => dexOf(name) === dex);
    return { status: 200, body: { universe, marginTables: [], collateralToken: 0 } };
  }
  if (type === 'perpDexs') {
    const names = [...new Set(coins.map(({ name }) => dexOf(name)))].filter((name) => name !== '');
    return { status: 200, body: [null, ...names.map((name) => ({ name }))] };
  }
  if (type !== 'userRole') return { status: 422, body: 'Failed to deserialize the JSON body into the target type' };
  const role = world.truth(now).find(({ trader }) => trader === user)?.role;
  return { status: 200, body: { role: role === undefined ? 'missing' : role === 'vault' ? 'vault' : 'user' } };
}

/**
 * What an hour's file holds does not depend on when it was asked for: who has read a part of it goes on at that byte after a restart.
 */
class PerpsPast extends Past {
  private files = new Map<number, Buffer[]>();
  /** The hour that was asked for last: later ones are still to be read. */
  private asked = Number.NEGATIVE_INFINITY;
  private quietUntil: number;

  constructor(world: PerpsWorld, since: Date) {
    super(world, since);
    this.quietUntil = since.getTime() - QUIET_MS;
  }

  /** The file of an hour (`YYYYMMDD`, hour), as far as it is written. */
  fileOf(day: string, hour: number): Buffer | undefined {
    const start = Date.UTC(Number(day.slice(0, 4)), Number(day.slice(4, 6)) - 1, Number(day.slice(6)), hour);
    const chunks = this.files.get(start);
    if (chunks === undefined) return undefined;
    this.asked = start;
    const whole = Buffer.concat(chunks);
    this.files.set(start, [whole]);
    return whole;
  }

  protected take({ format, records }: WorldPage): void {
    if (format !== 'ndjson') return;
    for (const block of records as { block_time: string }[]) {
      this.beQuiet(timeOf(block));
      this.write(block);
    }
  }

  protected arrive(now: Date): void {
    this.beQuiet(now.getTime());
  }

  protected forget(before: Date): void {
    for (const hour of this.files.keys()) if (hour < Math.min(before.getTime(), this.asked - HOUR_MS)) this.files.delete(hour);
  }

  /** Writes the blocks without fills up to `time`. */
  private beQuiet(time: number): void {
    for (; this.quietUntil + QUIET_MS <= time; this.quietUntil += QUIET_MS) {
      const at = this.quietUntil + QUIET_MS;
      this.write({ local_time: archiveTime(at), block_time: archiveTime(at), block_number: numberOfBlock(at), events: [] });
    }
  }

  private write(block: { block_time: string } & Record<string, unknown>): void {
    const hour = Math.floor(timeOf(block) / HOUR_MS) * HOUR_MS;
    addTo(this.files, hour, Buffer.from(`${JSON.stringify(block)}\n`));
  }
}
