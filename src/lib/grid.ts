/** Most buckets of time that one answer holds. */
export const MOST_BUCKETS = 2_100;

/** Most cells of a grid of rows and buckets: ten rows of the longest series. */
export const MOST_CELLS = 21_000;

/** A grid of `buckets` and at most `rows` in each; `coarsest` when no larger bucket could be asked for. */
export interface Grid {
  buckets: number;
  rows: number;
  coarsest: boolean;
}

/** Why a grid is too large for one answer; null when it is not. Cells never refuse the coarsest buckets: nothing could be asked for instead. */
export function tooLarge({ buckets, rows, coarsest }: Grid): string | null {
  if (buckets > MOST_BUCKETS) return `makes ${buckets} buckets of this window, at most ${MOST_BUCKETS} are sent`;
  if (coarsest || buckets * rows <= MOST_CELLS) return null;
  return `makes ${buckets} buckets of this window, of ${rows} rows each; at most ${MOST_CELLS} cells are sent`;
}
