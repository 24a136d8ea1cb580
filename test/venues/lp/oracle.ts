import type { Pool } from 'pg';

/** Exact decimals for second opinions: whole numbers of 10^-80. */
const SCALE = 80;
const ONE = 10n ** BigInt(SCALE);

export function exact(text: string): bigint {
  const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.');
  const shift = SCALE - fraction.length + Number(exponent);
  if (shift < 0) throw new Error(`too many digits: ${text}`);
  const value = BigInt(whole + fraction) * 10n ** BigInt(shift);
  return mantissa.startsWith('-') ? -value : value;
}

export const total = (values: Iterable<bigint | null>): bigint => {
  let sum = 0n;
  for (const value of values) sum += value ?? 0n;
  return sum;
};

/** Rounded to so many decimals, halves up, as answers are. */
export function shown(value: bigint, decimals = 6): number {
  const unit = 10n ** BigInt(SCALE - decimals);
  const raised = value + unit / 2n;
  const rounded = raised / unit - (raised < 0n && raised % unit !== 0n ? 1n : 0n);
  return Number(`${rounded}e-${decimals}`);
}

/** a / b, null where b is 0. */
export const over = (a: bigint, b: bigint): bigint | null => (b === 0n ? null : (a * ONE) / b);
export const whole = (n: number): bigint => BigInt(n) * ONE;

export interface FactEvent {
  pool: string;
  type: string;
  at: number;
  tx: string;
  position: string;
  kind: 'deposit' | 'withdraw' | 'claim';
  owner: string | null;
  usd: bigint | null;
  x: bigint | null;
  y: bigint | null;
  liquidity: bigint | null;
  rebalance: boolean;
  /** Slot, and places of its instructions; null where no feed told. */
  place: (number | null)[];
  n: number;
}

interface FactSwap {
  pool: string;
  at: number;
  usd: bigint | null;
  fee: bigint | null;
}

interface FactHour {
  pool: string;
  at: number;
  usd: bigint;
  fee: bigint | null;
}

interface FactPool {
  pool: string;
  type: string;
  created: number | null;
}

/** Everything kept of a world, straight from the fact tables. */
export interface WorldFacts {
  events: FactEvent[];
  swaps: FactSwap[];
  hours: FactHour[];
  pools: Map<string, FactPool>;
  scores: { owner: string; day: string; score: number | null }[];
}

const HOUR = 3_600_000;
const orNull = (text: string | null): bigint | null => (text === null ? null : exact(text));

type Kept<Text extends string, Time extends string, Other extends object = object> = Record<Text, string | null> &
  Record<Time, Date | null> &
  Other;
type EventRecord = Kept<
  'pool_address' | 'pool_type' | 'tx_id' | 'position_address' | 'owner' | 'usd' | 'amount_x' | 'amount_y' | 'liquidity_delta',
  'timestamp',
  { kind: FactEvent['kind']; rebalance: boolean; slot: string | null; outer_ix: number | null; inner_ix: number | null; n: number }
>;
const text = (value: string | null): string => value ?? '';
const time = (value: Date | null): number => (value as Date).getTime();

export async function factsOf(db: Pool): Promise<WorldFacts> {
  const events = await db.query<EventRecord>('SELECT * FROM lp_event');
  const swaps = await db.query<Kept<'pool_address' | 'usd' | 'fee_usd', 'timestamp'>>('SELECT * FROM lp_swap');
  const hours =
    await db.query<Kept<'pool_address' | 'volume_usd' | 'fees_usd' | 'protocol_fees_usd', 'hour'>>('SELECT * FROM lp_volume_hour');
  const pools = await db.query<Kept<'pool_address' | 'pool_type', 'created_at'>>('SELECT * FROM lp_pool');
  const scores = await db.query<Kept<'owner' | 'day' | 'score', never>>(
    `SELECT owner, to_char(day, 'YYYY-MM-DD') AS day, score FROM lp_score`,
  );
  return {
    events: events.rows.map((e) => ({
      pool: text(e.pool_address),
      type: text(e.pool_type),
      at: time(e.timestamp),
      tx: text(e.tx_id),
      position: text(e.position_address),
      kind: e.kind,
      owner: e.owner,
      usd: orNull(e.usd),
      x: orNull(e.amount_x),
      y: orNull(e.amount_y),
      liquidity: orNull(e.liquidity_delta),
      rebalance: e.rebalance,
      place: [e.slot === null ? null : Number(e.slot), e.outer_ix, e.inner_ix],
      n: e.n,
    })),
    swaps: swaps.rows.map((s) => ({ pool: text(s.pool_address), at: time(s.timestamp), usd: orNull(s.usd), fee: orNull(s.fee_usd) })),
    hours: hours.rows.map((h) => ({
      pool: text(h.pool_address),
      at: time(h.hour),
      usd: exact(text(h.volume_usd)),
      fee: h.fees_usd === null ? null : exact(h.fees_usd) - exact(h.protocol_fees_usd ?? '0'),
    })),
    pools: new Map(
      pools.rows.map((p) => [
        text(p.pool_address),
        { pool: text(p.pool_address), type: text(p.pool_type), created: p.created_at === null ? null : time(p.created_at) },
      ]),
    ),
    scores: scores.rows.map((s) => ({ owner: text(s.owner), day: text(s.day), score: s.score === null ? null : Number(s.score) })),
  };
}

export interface Between {
  from: number;
  to: number;
}

const inside = (at: number, { from, to }: Between): boolean => at >= from && at < to;

/** Swap volume and fees of pools by the rule: the stated figure of an hour that begins in the window, else the swaps seen. */
export function swapTotals(facts: WorldFacts, window: Between): Map<string, { usd: bigint; fee: bigint | null; swaps: number }> {
  const volumes = new Map<string, { usd: bigint; fee: bigint | null; swaps: number }>();
  const stated = new Map(facts.hours.map((hour) => [`${hour.pool}/${hour.at}`, hour]));
  const add = (pool: string, usd: bigint | null, fee: bigint | null, swaps: number): void => {
    const seen = volumes.get(pool) ?? { usd: 0n, fee: null, swaps: 0 };
    volumes.set(pool, { usd: seen.usd + (usd ?? 0n), fee: fee === null ? seen.fee : (seen.fee ?? 0n) + fee, swaps: seen.swaps + swaps });
  };
  for (const hour of facts.hours) if (inside(hour.at, window)) add(hour.pool, hour.usd, hour.fee, 0);
  for (const swap of facts.swaps) {
    if (!inside(swap.at, window)) continue;
    const hour = stated.get(`${swap.pool}/${Math.floor(swap.at / HOUR) * HOUR}`);
    add(swap.pool, hour === undefined ? swap.usd : null, hour === undefined || hour.fee === null ? swap.fee : null, 1);
  }
  return volumes;
}

export const eventsIn = (facts: WorldFacts, window: Between): FactEvent[] => facts.events.filter((event) => inside(event.at, window));

/** The score of the newest run before the day of an instant. */
export function scoreBefore(facts: WorldFacts, owner: string, at: number): number | null {
  const day = new Date(at).toISOString().slice(0, 10);
  const run = facts.scores
    .map((score) => score.day)
    .filter((other) => other < day)
    .sort()
    .at(-1);
  return facts.scores.find((score) => score.owner === owner && score.day === run)?.score ?? null;
}

export function isSmartIn(facts: WorldFacts, events: readonly FactEvent[], owner: string): boolean {
  return events.some((event) => event.owner === owner && (scoreBefore(facts, owner, event.at) ?? 0) >= 60);
}

/** Groups by a key, in order of first appearance. */
export function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const key = keyOf(row);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  return groups;
}
