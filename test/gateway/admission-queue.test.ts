import { AdmissionQueue } from '../../src/gateway/admission-queue';

const never = new AbortController().signal;

/** Work that ends when it is told to, and the clock it is timed by. */
function makeWorld(atOnce: number) {
  let time = 0;
  const queue = new AdmissionQueue(atOnce, () => time);
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const ask = (name: string, kind: string, signal = never): Promise<void> =>
    queue.run(kind, signal, () => {
      begun.push(name);
      return new Promise((resolve, reject) => ends.set(name, (error) => (error === undefined ? resolve() : reject(error))));
    });
  /** Ends what has begun, `took` milliseconds later. */
  const end = async (name: string, took = 0, error?: Error): Promise<void> => {
    time += took;
    (ends.get(name) as (error?: Error) => void)(error);
    await settle();
  };
  /** Tells how long a kind takes. */
  const teach = async (kind: string, took: number): Promise<void> => {
    const run = ask(kind, kind);
    await settle();
    await end(kind, took);
    await run;
    begun.length = 0;
  };
  return { ask, end, teach, begun, pass: (ms: number) => (time += ms) };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('no more at once than there are turns, and of those who take as long the first comes first', async () => {
  const { ask, end, begun } = makeWorld(2);
  const all = ['a', 'b', 'c', 'd'].map((name) => ask(name, 'one kind'));
  await settle();
  expect(begun).toEqual(['a', 'b']);
  await end('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  await end('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  await end('c');
  await end('d');
  await Promise.all(all);
});

test('what takes little goes before what takes long, for ten times as long as that takes', async () => {
  const { ask, end, teach, begun, pass } = makeWorld(1);
  await teach('short', 5);
  await teach('long', 100);
  const all = [ask('running', 'short'), ask('long', 'long')];
  await settle();
  pass(949);
  all.push(ask('in time', 'short'));
  pass(2);
  all.push(ask('too late', 'short'));
  await end('running');
  await end('in time');
  await end('long');
  await end('too late');
  expect(begun).toEqual(['running', 'in time', 'long', 'too late']);
  await Promise.all(all);
});

test('nobody is overtaken by what comes more than five seconds later, however long it takes', async () => {
  const { ask, end, teach, begun, pass } = makeWorld(1);
  await teach('short', 5);
  await teach('very long', 20_000);
  const all = [ask('running', 'short'), ask('very long', 'very long')];
  await settle();
  pass(4_949);
  all.push(ask('in time', 'short'));
  pass(2);
  all.push(ask('too late', 'short'));
  for (const name of ['running', 'in time', 'very long', 'too late']) await end(name);
  expect(begun).toEqual(['running', 'in time', 'very long', 'too late']);
  await Promise.all(all);
});

test('what is expected follows what is measured', async () => {
  const { ask, end, teach, begun } = makeWorld(1);
  await teach('was long', 100);
  for (let i = 0; i < 50; i++) await teach('was long', 1);
  await teach('steady', 20);
  const all = [ask('running', 'steady'), ask('steady', 'steady'), ask('was long', 'was long')];
  await settle();
  await end('running');
  expect(begun).toEqual(['running', 'was long']);
  await end('was long');
  await end('steady');
  await Promise.all(all);
});

test('what is expected is how long it takes, not how long it waits', async () => {
  const { ask, end, teach, begun } = makeWorld(1);
  await teach('steady', 20);
  const all = [ask('running', 'steady'), ask('waited', 'quick')];
  await settle();
  await end('running', 1_000);
  await end('waited', 1);
  begun.length = 0;
  all.push(ask('running', 'steady'), ask('steady', 'steady'), ask('quick', 'quick'));
  await settle();
  for (const name of ['running', 'quick', 'steady']) await end(name);
  expect(begun).toEqual(['running', 'quick', 'steady']);
  await Promise.all(all);
});

test('a single time that is far from the others counts a tenth', async () => {
  const { ask, end, teach, begun } = makeWorld(1);
  await teach('odd once', 10);
  await teach('odd once', 200);
  await teach('steady', 40);
  const all = [ask('running', 'steady'), ask('steady', 'steady'), ask('odd once', 'odd once')];
  await settle();
  for (const name of ['running', 'odd once', 'steady']) await end(name);
  expect(begun).toEqual(['running', 'odd once', 'steady']);
  await Promise.all(all);
});

test('work that throws passes its turn on; who leaves is not waited for', async () => {
  const { ask, end, begun } = makeWorld(1);
  const broken = ask('breaks', 'kind');
  const leaver = new AbortController();
  const gone = ask('leaves', 'kind', leaver.signal);
  const last = ask('last', 'kind');
  await settle();
  leaver.abort(new Error('left'));
  await expect(gone).rejects.toThrow('left');
  await Promise.all([expect(broken).rejects.toThrow('broke'), end('breaks', 0, new Error('broke'))]);
  expect(begun).toEqual(['breaks', 'last']);
  await expect(ask('never begins', 'kind', leaver.signal)).rejects.toThrow('left');
  await end('last');
  await last;
  const next = ask('next', 'kind');
  await settle();
  expect(begun).toEqual(['breaks', 'last', 'next']);
  await end('next');
  await next;
});

test('who takes longer than a second goes on beside the next, and gives back one turn, not two', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { ask, end, begun } = makeWorld(1);
    const all = [ask('slow', 'kind'), ask('next', 'kind'), ask('third', 'kind')];
    await settle();
    jest.advanceTimersByTime(999);
    await settle();
    expect(begun).toEqual(['slow']);
    jest.advanceTimersByTime(1);
    await settle();
    expect(begun).toEqual(['slow', 'next']);
    await end('slow');
    expect(begun).toEqual(['slow', 'next']);
    await end('next');
    await end('third');
    await Promise.all(all);
  } finally {
    jest.useRealTimers();
  }
});
