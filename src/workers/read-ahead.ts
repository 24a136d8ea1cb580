/** So many items beside the one whose turn it is are begun. */
const AHEAD = 2;

/**
 * Begins items in their order, each while those before it are still at work: `begin` is handed the item and its turn, which comes when all
 * before it are done, and never when one of them failed. Throws what the first of them that fails throws, once nothing works any more.
 */
export async function inTurns<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  begin: (item: Item, turn: Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  let done: Promise<unknown> = Promise.resolve();
  const begun: { work: Promise<unknown>; done: Promise<unknown> }[] = [];
  try {
    for await (const item of items) {
      const work = begin(item, done);
      done = done.then(() => work);
      begun.push({ work, done });
      // A failure is met in its turn; until then it must not count as unhandled.
      void Promise.allSettled([work, done]);
      if (begun.length <= AHEAD) continue;
      await begun[0]?.done;
      begun.shift();
    }
  } catch (error) {
    await done;
    throw error;
  } finally {
    await Promise.allSettled(begun.map(({ work }) => work));
  }
  await done;
}
