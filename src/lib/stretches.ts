import { setImmediate } from 'node:timers/promises';

/** So long work goes on at a stretch. */
const STRETCH_MS = 2;

/** Items one by one, for work that takes long on all of them: between stretches the database's answers to others get their turn. */
export async function* inStretches<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  let begun = performance.now();
  for (const item of items) {
    yield item;
    if (performance.now() - begun < STRETCH_MS) continue;
    await setImmediate();
    begun = performance.now();
  }
}
