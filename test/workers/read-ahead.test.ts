import { inTurns } from '../../src/workers/read-ahead';

const rest = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Works through `items` in two steps, one before and one in its turn; `fail` throws in the one it names. */
async function work(items: readonly string[], fail = ''): Promise<{ log: string[]; error: unknown }> {
  const log: string[] = [];
  const step = (name: string): void => {
    if (name === fail) throw new Error(name);
    log.push(name);
  };
  const error: unknown = await inTurns(items, async (item, turn) => {
    step(`read ${item}`);
    await turn;
    await rest();
    step(`write ${item}`);
  }).then(
    () => null,
    (cause: Error) => cause.message,
  );
  return { log, error };
}

test('items are read ahead, two at most, and written in their order', async () => {
  const { log, error } = await work(['a', 'b', 'c', 'd']);
  expect(error).toBeNull();
  expect(log).toEqual(['read a', 'read b', 'read c', 'write a', 'read d', 'write b', 'write c', 'write d']);
});

test('what comes behind a failure is not written, and the first failure is told', async () => {
  expect(await work(['a', 'b', 'c'], 'write a')).toEqual({ log: ['read a', 'read b', 'read c'], error: 'write a' });
  const { log, error } = await work(['a', 'b', 'c'], 'read b');
  expect(error).toBe('read b');
  expect(log).toContain('write a');
  expect(log).not.toContain('write c');
});

test('of two that fail the one that comes first is told, however much later it fails', async () => {
  const failing = inTurns(['a', 'b'], async (item, turn) => {
    if (item === 'b') throw new Error('b');
    await turn;
    await rest();
    throw new Error('a');
  });
  await expect(failing).rejects.toThrow('a');
});

test('where the list itself fails, what was begun ends first', async () => {
  const done: string[] = [];
  function* items(): Generator<string> {
    yield 'a';
    throw new Error('no more');
  }
  const failing = inTurns(items(), async (item, turn) => {
    await turn;
    await rest();
    done.push(item);
  });
  await expect(failing).rejects.toThrow('no more');
  expect(done).toEqual(['a']);
});
