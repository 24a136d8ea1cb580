import { inStretches } from '../../src/lib/stretches';

/** Spends so much of the process's time. */
function work(ms: number): void {
  for (const begun = performance.now(); performance.now() - begun < ms;);
}

test('items come in their order, whatever they are', async () => {
  const items: unknown[] = [];
  for await (const item of inStretches([1, null, undefined, 'a'])) items.push(item);
  expect(items).toEqual([1, null, undefined, 'a']);
});

test('others get their turn while long work goes on', async () => {
  let [turns, over] = [0, false];
  const turn = (): void => {
    if (over) return;
    turns += 1;
    setImmediate(turn);
  };
  setImmediate(turn);
  for await (const ms of inStretches(Array.from({ length: 10 }, () => 3))) work(ms);
  over = true;
  expect(turns).toBeGreaterThanOrEqual(9);
});
