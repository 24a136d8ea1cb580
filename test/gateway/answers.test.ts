import { AnswerCache, roughBytes, type Executed } from '../../src/gateway/answers';

const never = new AbortController().signal;
const answer = (data: unknown): Executed => ({ data, meta: {} });

/** An execution that ends when told, and counts how often it ran. */
function controlled(): { execute(signal: AbortSignal): Promise<Executed>; runs(): number; end(data: unknown): void; aborted(): boolean } {
  let runs = 0;
  let aborted = false;
  let end: (data: unknown) => void = () => undefined;
  return {
    execute: (signal) => {
      runs += 1;
      return new Promise((resolve, reject) => {
        end = (data) => resolve(answer(data));
        signal.addEventListener('abort', () => {
          aborted = true;
          reject(signal.reason as Error);
        });
      });
    },
    runs: () => runs,
    end: (data) => end(data),
    aborted: () => aborted,
  };
}

test('equal queries at once share one execution; later ones are served from the kept answer', async () => {
  const cache = new AnswerCache(1_000_000);
  const work = controlled();
  const both = Promise.all([cache.get('k', 60, never, work.execute), cache.get('k', 60, never, work.execute)]);
  work.end([1]);
  expect((await both).map(({ answer: { data } }) => data)).toEqual([[1], [1]]);
  expect(await cache.get('k', 60, never, work.execute)).toEqual({ answer: answer([1]), hit: true });
  expect(work.runs()).toBe(1);
});

test('one caller leaving does not stop the others; the last one leaving aborts the execution', async () => {
  const cache = new AnswerCache(1_000_000);
  const work = controlled();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = cache.get('k', 60, first.signal, work.execute);
  const two = cache.get('k', 60, second.signal, work.execute);
  first.abort(new Error('first left'));
  await expect(one).rejects.toThrow('first left');
  expect(work.aborted()).toBe(false);
  second.abort(new Error('second left'));
  await expect(two).rejects.toThrow('second left');
  expect(work.aborted()).toBe(true);
  // Who comes now does not join the aborted execution.
  const three = cache.get('k', 60, never, work.execute);
  work.end('new');
  expect((await three).answer.data).toBe('new');
});

test('an execution that everybody left is joined by nobody, however long it takes to end', async () => {
  const cache = new AnswerCache(1_000_000);
  const leaver = new AbortController();
  const left = cache.get('k', 60, leaver.signal, () => new Promise(() => undefined));
  leaver.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  expect((await cache.get('k', 60, never, () => Promise.resolve(answer('anew')))).answer.data).toBe('anew');
});

test('an execution that everybody left and that ends late takes nothing from the one that was begun since', async () => {
  const cache = new AnswerCache(1_000_000);
  let endLate: () => void = () => undefined;
  const leaver = new AbortController();
  const left = cache.get('k', 60, leaver.signal, () => new Promise((_, reject) => (endLate = () => reject(new Error('late')))));
  leaver.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  const work = controlled();
  const one = cache.get('k', 60, never, work.execute);
  endLate();
  await new Promise((resolve) => setImmediate(resolve));
  const two = cache.get('k', 60, never, work.execute);
  work.end('shared');
  expect([(await one).answer.data, (await two).answer.data, work.runs()]).toEqual(['shared', 'shared', 1]);
});

test('an execution that came to its end is not aborted, and who has no time left begins none', async () => {
  const cache = new AnswerCache(1_000_000);
  const work = controlled();
  await expect(cache.get('k', 60, AbortSignal.abort(new Error('late')), work.execute)).rejects.toThrow('late');
  expect(work.runs()).toBe(0);
  const asked = cache.get('k', 60, never, work.execute);
  work.end('well');
  expect([(await asked).answer.data, work.aborted()]).toEqual(['well', false]);
});

test('failures are not kept', async () => {
  const cache = new AnswerCache(1_000_000);
  await expect(cache.get('k', 60, never, () => Promise.reject(new Error('broke')))).rejects.toThrow('broke');
  expect((await cache.get('k', 60, never, () => Promise.resolve(answer('well')))).answer.data).toBe('well');
});

test('an answer lives as long as its cache class says', async () => {
  const cache = new AnswerCache(1_000_000);
  await cache.get('k', 0.05, never, () => Promise.resolve(answer('old')));
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect((await cache.get('k', 60, never, () => Promise.resolve(answer('new')))).answer.data).toBe('new');
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(cache.find('k')?.data).toBe('new');
});

test.each([
  [60, { good_for_s: 0.05 }, 80, undefined],
  [0.05, { good_for_s: 60 }, 80, undefined],
  [60, { good_for_s: null }, 80, 'kept'],
  [60, { good_for_s: 0 }, 0, undefined],
  [0, {}, 0, undefined],
])('for %d s by its class, %j by itself, an answer is given again after %d ms: %s', async (ttl, own, ms, expected) => {
  const cache = new AnswerCache(1_000_000);
  await cache.get('k', ttl, never, async () => ({ ...answer('kept'), ...own }));
  await new Promise((resolve) => setTimeout(resolve, ms));
  expect(cache.find('k')?.data).toBe(expected);
});

test('no more is kept than there is room for, the least recent goes first', async () => {
  const cache = new AnswerCache(3_000);
  for (const key of ['one', 'two', 'three']) await cache.get(key, 60, never, async () => answer('x'.repeat(600)));
  expect(['one', 'two', 'three'].map((key) => cache.find(key) !== undefined)).toEqual([false, true, true]);
  // What is asked for stays.
  cache.find('two');
  await cache.get('four', 60, never, async () => answer('x'.repeat(600)));
  expect(['two', 'three', 'four'].map((key) => cache.find(key) !== undefined)).toEqual([true, false, true]);
});

test('the rough size of a list of rows is near the length of its text, and long lists are kept', async () => {
  const row = (index: number): Record<string, unknown> => ({
    wallet: `0x${String(index).padStart(40, '0')}`,
    usd: index * 1.25,
    tags: ['a', 'b'],
    won: null,
  });
  for (const rows of [1, 7, 500]) {
    const data = Array.from({ length: rows }, (_, index) => row(index));
    const [rough, exact] = [roughBytes(data), JSON.stringify(data).length];
    expect(rough / exact).toBeGreaterThan(0.7);
    expect(rough / exact).toBeLessThan(1.5);
  }
  const cache = new AnswerCache(1_000_000);
  const rows = Array.from({ length: 333 }, (_, index) => row(index));
  expect((await cache.get('rows', 60, never, async () => answer(rows))).hit).toBe(false);
  expect(await cache.get('rows', 60, never, async () => answer([]))).toEqual({ answer: answer(rows), hit: true });
  expect([roughBytes(null), roughBytes([]), roughBytes({})].every((bytes) => bytes > 0)).toBe(true);
});
