import { MINUTE_MS } from '../../../lib/time';

const LENGTHS = { day: 1_440 * MINUTE_MS, hour: 60 * MINUTE_MS, minute: MINUTE_MS } as const;

/** A whole UTC day, hour or minute. */
export type Unit = keyof typeof LENGTHS;

interface Range {
  from: Date;
  to: Date;
}

/** Whole days, hours or minutes within one part of a stretch of time. */
interface Tile extends Range {
  unit: Unit;
  /** From 1. */
  part: number;
}

/** What a stretch of time is read from, exactly to the millisecond: as many of each as there are parts and bounds, idle ones empty. */
export interface Tiles {
  rolled: Tile[];
  /** Shortest units that a bound tears: told by facts. */
  torn: Range[];
}

/** Lays the parts between `bounds` (ascending, two at least) out in whole `units`, longest first: these stand in the middle, shorter ones at both ends. */
export function tilesOf(bounds: readonly Date[], units: readonly Unit[]): Tiles {
  const times = bounds.map((bound) => bound.getTime());
  const [first, last] = [times[0], times.at(-1)] as [number, number];
  const rolled = times.slice(1).flatMap((to, index) => tilesWithin(times[index] as number, to, index + 1, units));
  const length = LENGTHS[units.at(-1) as Unit];
  const seen = new Set<number>();
  const torn = times.map((time) => {
    const begin = Math.floor(time / length) * length;
    if (time === begin || seen.has(begin)) return range(last, last);
    seen.add(begin);
    return range(Math.max(begin, first), Math.min(begin + length, last));
  });
  return { rolled, torn };
}

const range = (from: number, to: number): Range => ({ from: new Date(from), to: new Date(to) });

function tilesWithin(from: number, to: number, part: number, units: readonly Unit[]): Tile[] {
  const tiles: Tile[] = [];
  let inner: [number, number] | null = null;
  for (const unit of units) {
    const length = LENGTHS[unit];
    const [begin, end] = [Math.ceil(from / length) * length, Math.floor(to / length) * length];
    const whole = begin < end;
    const [left, right]: [number, number] = inner ?? [end, end];
    tiles.push({ unit, part, ...(whole ? range(begin, left) : range(to, to)) });
    if (tiles.length > 1) tiles.push({ unit, part, ...(whole ? range(right, end) : range(to, to)) });
    if (whole) inner = [begin, end];
  }
  return tiles;
}
