import type { RecordedPage, RecordedSource } from '../../../workers/source';
import { OUT_OF_SCOPE } from './fill';
import { rawFill } from './fills-by-block';
import { loadFills, type RawFill } from './load-fills';

const SOURCE = 'perps.node_fills';

/** The node's older archive of fills: one `[user, fill]` a line. */
export const nodeFills: RecordedSource = {
  name: SOURCE,
  harmless: OUT_OF_SCOPE,
  recognises: (first) => Array.isArray(first) && first.length === 2 && typeof first[0] === 'string' && isFillLike(first[1]),
  async load(page, client, options) {
    return loadFills(SOURCE, fillsOf(page), client, options, () => ({ cursor: { page: page.name }, watermark: null }));
  },
};

async function* fillsOf(page: RecordedPage): AsyncGenerator<RawFill> {
  for await (const record of page.records) yield rawFill(record);
}

/** Whether `value` has the fields that every fill of the upstream has. */
export function isFillLike(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ['coin', 'px', 'sz', 'side', 'time', 'startPosition'].every((key) => key in value);
}
