import type { Pool } from 'pg';
import type { PoolType } from '../../../src/venues/lp/chain-addresses';

/** Rows as the tables hold them; the counting below uses nothing of the product's own queries. */
export interface RawEvent {
  pool_address: string;
  pool_type: PoolType;
  position_address: string;
  timestamp: Date;
  tx_id: string;
  kind: 'deposit' | 'withdraw' | 'claim';
  n: number;
  owner: string | null;
  usd: string | null;
  amount_x: string | null;
  amount_y: string | null;
}

export interface RawSwap {
  pool_address: string;
  pool_type: PoolType;
  timestamp: Date;
  tx_id: string;
  outer_ix: number;
  inner_ix: number;
  trader: string;
  usd: string | null;
  fee_usd: string | null;
}

export interface RawWorld {
  events: RawEvent[];
  swaps: RawSwap[];
  hours: { pool_address: string; hour: Date; volume_usd: string; fees_usd: string | null; protocol_fees_usd: string | null }[];
  pools: { pool_address: string; pool_type: PoolType; mint_x: string; mint_y: string; created_at: Date | null; swaps_seen: boolean }[];
  tokens: { mint: string; symbol: string | null; name: string | null }[];
  scores: { owner: string; day: string; score: string | null }[];
}

export async function readWorld(pool: Pool): Promise<RawWorld> {
  const all = async <Row>(text: string): Promise<Row[]> => (await pool.query(text)).rows as Row[];
  return {
    events: await all('SELECT * FROM lp_event'),
    swaps: await all('SELECT * FROM lp_swap'),
    hours: await all('SELECT * FROM lp_volume_hour'),
    pools: await all('SELECT * FROM lp_pool'),
    tokens: await all('SELECT mint, symbol, name FROM lp_token'),
    scores: await all('SELECT owner, day::text, score FROM lp_score'),
  };
}

const SCALE = 60;

/** Exact sum of decimals, rounded half away from zero to six places, as a number. */
function exactSum(values: readonly (string | null)[]): number {
  return toSix(values.reduce((sum, value) => (value === null ? sum : sum + scaled(value)), 0n));
}

export function scaled(value: string): bigint {
  const [whole = '0', fraction = ''] = value.replace('-', '').split('.');
  if (fraction.length > SCALE) throw new Error(`more digits than counted: ${value}`);
  const digits = BigInt(whole + fraction.padEnd(SCALE, '0'));
  return value.startsWith('-') ? -digits : digits;
}

export function toSix(value: bigint): number {
  const unit = 10n ** BigInt(SCALE - 6);
  const magnitude = value < 0n ? -value : value;
  const rounded = (magnitude + unit / 2n) / unit;
  return Number(`${value < 0n ? '-' : ''}${rounded / 1_000_000n}.${(rounded % 1_000_000n).toString().padStart(6, '0')}`);
}

/** 100 x (a - b) / b to six places; null when b is zero. */
function exactChange(a: bigint, b: bigint): number | null {
  if (b === 0n) return null;
  const ratio = (100n * (a - b) * 10n ** BigInt(SCALE)) / b;
  return toSix(ratio);
}

const HOUR = 3_600_000;
const hourOf = (time: Date): number => Math.floor(time.getTime() / HOUR) * HOUR;

export interface Bounds {
  from: Date;
  to: Date;
}
const inside = (time: Date, { from, to }: Bounds): boolean => time >= from && time < to;

const ofType = <Row extends { pool_type: PoolType }>(rows: readonly Row[], type: string): Row[] =>
  rows.filter((row) => type === 'all' || row.pool_type === type);

/** lp/platform/stats by hand. */
export function statsByHand(
  world: RawWorld,
  type: 'all' | PoolType,
  window: Bounds,
  previous: Bounds | null,
): Record<string, unknown> | null {
  const scope = ofType(world.events, type);
  const events = scope.filter((event) => inside(event.timestamp, window));
  if (events.length === 0) return null;
  const usd = (kind: string): (string | null)[] => events.filter((event) => event.kind === kind).map((event) => event.usd);
  const moved = (rows: readonly RawEvent[]): (string | null)[] => rows.filter((event) => event.kind !== 'claim').map((event) => event.usd);
  const owners = new Set(events.map((event) => event.owner).filter((owner) => owner !== null));
  const firsts = new Map<string, number>();
  for (const event of scope)
    if (event.owner !== null)
      firsts.set(event.owner, Math.min(firsts.get(event.owner) ?? Number.POSITIVE_INFINITY, event.timestamp.getTime()));
  const sum = (values: (string | null)[]): bigint => values.reduce((total, value) => (value === null ? total : total + scaled(value)), 0n);
  // What came to pass before the hour of the first fact is not known.
  const times = [...world.events, ...world.swaps].map(({ timestamp }) => timestamp.getTime());
  const first = [...times, ...world.hours.map(({ hour }) => hour.getTime())].reduce((a, b) => Math.min(a, b));
  const known = previous !== null && hourOf(new Date(first)) <= previous.from.getTime() ? previous : null;
  const before = known === null ? 0n : sum(moved(scope.filter((event) => inside(event.timestamp, known))));
  return {
    total_volume_usd: exactSum(moved(events)),
    total_events: events.length,
    active_lps: owners.size,
    active_pools: new Set(events.map((event) => event.pool_address)).size,
    by_pool_type: (type === 'all' ? (['dlmm', 'damm_v2'] as const) : [type]).map((pool_type) => {
      const own = ofType(events, pool_type);
      return {
        pool_type,
        volume_usd: exactSum(moved(own)),
        event_count: own.length,
        lp_count: new Set(own.map((event) => event.owner).filter((owner) => owner !== null)).size,
        pool_count: new Set(own.map((event) => event.pool_address)).size,
        fees_usd: earnedByHand(world, pool_type, window),
      };
    }),
    deposits_usd: exactSum(usd('deposit')),
    withdrawals_usd: exactSum(usd('withdraw')),
    net_flow_usd: toSix(sum(usd('deposit')) - sum(usd('withdraw'))),
    fees_claimed_usd: exactSum(usd('claim')),
    new_lps: [...owners].filter((owner) => (firsts.get(owner) as number) >= window.from.getTime()).length,
    smart_lps: [...owners].filter((owner) =>
      events.some((event) => event.owner === owner && Number(scoreBefore(world, owner, event.timestamp) ?? 0) >= 60),
    ).length,
    volume_change_pct: known === null ? null : exactChange(sum(moved(events)), before),
  };
}

/** Score of the newest run before the day of `time`. */
export function scoreBefore(world: RawWorld, owner: string, time: Date): string | null {
  const day = time.toISOString().slice(0, 10);
  const run = world.scores
    .map((score) => score.day)
    .filter((other) => other < day)
    .sort()
    .at(-1);
  return world.scores.find((score) => score.owner === owner && score.day === run)?.score ?? null;
}

function earnedByHand(world: RawWorld, type: PoolType, window: Bounds): number | null {
  const typed = new Map(world.pools.map((pool) => [pool.pool_address, pool.pool_type]));
  const stated = world.hours.filter((hour) => typed.get(hour.pool_address) === type && hour.fees_usd !== null);
  const covered = new Set(stated.map((hour) => `${hour.pool_address}/${hour.hour.getTime()}`));
  const fees = stated
    .filter((hour) => inside(hour.hour, window))
    .flatMap((hour) => [hour.fees_usd, hour.protocol_fees_usd === null ? null : `-${hour.protocol_fees_usd}`]);
  const swaps = ofType(world.swaps, type).filter(
    (swap) => inside(swap.timestamp, window) && !covered.has(`${swap.pool_address}/${hourOf(swap.timestamp)}`),
  );
  const all = [...fees, ...swaps.map((swap) => swap.fee_usd)].filter((fee) => fee !== null);
  return all.length === 0 ? null : exactSum(all);
}

/** Newest first by the order of the key; the key is compared as text where it is text. */
export function newestFirst<Row extends { timestamp: Date }>(rows: readonly Row[], key: (row: Row) => (string | number)[]): Row[] {
  return [...rows].sort((a, b) => {
    if (a.timestamp.getTime() !== b.timestamp.getTime()) return b.timestamp.getTime() - a.timestamp.getTime();
    const [left, right] = [key(a), key(b)];
    for (let i = 0; i < left.length; i += 1) if (left[i] !== right[i]) return (left[i] as string) < (right[i] as string) ? 1 : -1;
    return 0;
  });
}

const KINDS = ['exact', 'prefix', 'substring'] as const;
const fold = (text: string | null): string | null => text?.normalize('NFKC').trim().toLowerCase() ?? null;

/** 0 exact, 1 prefix, 2 substring; undefined: not at all. */
function tokenRank(token: RawWorld['tokens'][number] | undefined, word: string): number | undefined {
  if (token === undefined) return undefined;
  if (token.mint === word) return 0;
  const wanted = fold(word) as string;
  const texts = [fold(token.symbol), fold(token.name)].filter((text) => text !== null);
  if (texts.includes(wanted)) return 0;
  if (texts.some((text) => text.startsWith(wanted))) return 1;
  return texts.some((text) => text.includes(wanted)) ? 2 : undefined;
}

/** lp/pools/search by hand: address, match, volume, counts. */
export function searchByHand(
  world: RawWorld,
  query: string,
  type: 'all' | PoolType,
  limit: number,
  window: Bounds,
): Record<string, unknown>[] {
  const tokens = new Map(world.tokens.map((token) => [token.mint, token]));
  const word = query.trim();
  const pairs = [...word.matchAll(/[-/]/g)]
    .map(({ index }) => [word.slice(0, index).trim(), word.slice(index + 1).trim()])
    .filter(([a, b]) => a !== '' && b !== '') as [string, string][];
  const ranked = ofType(world.pools, type).flatMap((pool) => {
    if (pool.created_at !== null && pool.created_at > window.to) return [];
    const [x, y] = [tokens.get(pool.mint_x), tokens.get(pool.mint_y)];
    const ranks = [pool.pool_address === word ? 0 : undefined, tokenRank(x, word), tokenRank(y, word)];
    for (const [a, b] of pairs)
      for (const [p, q] of [
        [a, b],
        [b, a],
      ] as const)
        ranks.push(worse(tokenRank(x, p), tokenRank(y, q)));
    const best = Math.min(...ranks.map((rank) => rank ?? 9));
    return best === 9 ? [] : [{ pool, rank: best, ...activity(world, pool, window) }];
  });
  ranked.sort((a, b) => a.rank - b.rank || compareVolume(a.volume, b.volume) || (a.pool.pool_address < b.pool.pool_address ? -1 : 1));
  return ranked.slice(0, limit).map(({ pool, rank, volume, event_count, unique_lps }) => ({
    pool_address: pool.pool_address,
    match: KINDS[rank],
    volume_usd: volume === null ? null : toSix(volume),
    event_count,
    unique_lps,
  }));
}

const worse = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b);

function compareVolume(a: bigint | null, b: bigint | null): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? 1 : -1;
  return a > b ? -1 : 1;
}

function activity(
  world: RawWorld,
  pool: RawWorld['pools'][number],
  window: Bounds,
): { volume: bigint | null; event_count: number; unique_lps: number } {
  const own = <Row extends { pool_address: string }>(list: readonly Row[]): Row[] =>
    list.filter((row) => row.pool_address === pool.pool_address);
  const hours = own(world.hours);
  const covered = new Set(hours.map((hour) => hour.hour.getTime()));
  const swaps = own(world.swaps).filter((swap) => inside(swap.timestamp, window));
  const events = own(world.events).filter((event) => inside(event.timestamp, window));
  const values = [
    ...hours.filter((hour) => inside(hour.hour, window)).map((hour) => hour.volume_usd),
    ...swaps.filter((swap) => !covered.has(hourOf(swap.timestamp))).map((swap) => swap.usd),
  ];
  const known = own(world.swaps).some((swap) => swap.timestamp < window.to) || hours.some((hour) => hour.hour < window.to);
  return {
    volume: known ? values.reduce((sum, value) => (value === null ? sum : sum + scaled(value)), 0n) : null,
    event_count: swaps.length + events.length,
    unique_lps: new Set(events.map((event) => event.owner).filter((owner) => owner !== null)).size,
  };
}
