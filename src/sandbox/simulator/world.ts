/** Which world the sandbox pretends: the same options give the same facts, to the last digit. */
export interface WorldOptions {
  seed: number;
  /** About how many facts a venue has between `start` and `start` + 30 days. */
  size: number;
  /** First instant of the world. */
  start: Date;
}

/** One page in an upstream's own format, as the upstream would serve it. */
export interface WorldPage {
  name: string;
  format: 'json' | 'ndjson' | 'csv';
  records: unknown[];
  /** How many facts of the venue it holds (catalogue objects count as well): the unit of the progress bar. */
  facts: number;
}

/** A venue's pretended upstream. */
export interface VenueWorld {
  /**
   * Everything the upstream would have told between `from` and `to` (half open): catalogue pages first, then events, oldest
   * first. pages(a, b) followed by pages(b, c) holds the same facts as pages(a, c).
   */
  pages(from: Date, to: Date): Iterable<WorldPage>;
}

/** A deterministic random number generator (mulberry32) for one named thing of the world: uniform in [0, 1). */
export function randomOf(seed: number, ...name: (string | number)[]): () => number {
  let state = seed >>> 0;
  for (const part of name.join('/')) state = Math.imul(state ^ part.charCodeAt(0), 0x01000193) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
