import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { inTime, pause, withDeadline } from '../../src/lib/deadline';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Waits until the signal aborts, and tells why. */
const reasonOf = (signal: AbortSignal): Promise<Error> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason as Error), { once: true }));

describe('a deadline', () => {
  test('comes though garbage is collected while it is waited for', async () => {
    const outer = new AbortController();
    const ends = Array.from({ length: 50 }, () => withDeadline(150, reasonOf, outer.signal));
    for (let round = 0; round < 5; round += 1) {
      await sleep(20);
      collectGarbage();
    }
    expect((await Promise.all(ends)).map(({ name }) => name)).toEqual(Array(50).fill('TimeoutError'));
  });

  test('passes on the signal it is given, also one that aborted before', async () => {
    const outer = new AbortController();
    const end = withDeadline(60_000, reasonOf, outer.signal);
    outer.abort(new Error('gone'));
    expect((await end).message).toBe('gone');
    expect(await withDeadline(60_000, (signal) => Promise.resolve(signal.aborted), outer.signal)).toBe(true);
  });

  test('stops its clock with the answer, and hands on what was thrown', async () => {
    let kept: AbortSignal | undefined;
    const answer = await withDeadline(30, (signal) => {
      kept = signal;
      return Promise.resolve('in time');
    });
    await sleep(60);
    expect([answer, kept?.aborted]).toEqual(['in time', false]);
    await expect(withDeadline(30, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  });
});

test('of work that knows no signals the answer, the end of the time or the abort is told, whichever is first', async () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  expect(await inTime(60_000, () => Promise.resolve(1))).toBe(1);
  await expect(inTime(20, never)).rejects.toThrow('no answer within 20 ms');
  await expect(inTime(60_000, never, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
  await expect(inTime(60_000, () => Promise.reject(new Error('own')))).rejects.toThrow('own');
});

test('a pause ends with its signal', async () => {
  await pause(1);
  const end = new AbortController();
  const paused = pause(60_000, end.signal);
  end.abort(new Error('gone'));
  await paused;
  await pause(60_000, end.signal);
});
