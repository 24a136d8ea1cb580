import { FailureThrottle } from '../../src/lib/failure-throttle';

const failure = (code: string | undefined, message: string): Error => Object.assign(new Error(message), code === undefined ? {} : { code });

test('a failure that goes on is told when it begins and every ten minutes, one of another kind at once, and anew after six quiet minutes', () => {
  let seconds = 0;
  const throttle = new FailureThrottle(() => 1_000 * seconds);
  const told: [number, string, number][] = [];
  const fail = (at: number, code: string | undefined, message: string): void => {
    seconds = at;
    throttle.note(failure(code, message), (untold) => told.push([at, message, untold]));
  };
  for (let at = 0; at <= 1_230; at += 30) fail(at, '53100', `could not extend file ${at}`);
  fail(1_231, 'ECONNREFUSED', 'refused');
  fail(1_232, undefined, 'Connection terminated unexpectedly');
  fail(1_233, undefined, 'Connection terminated unexpectedly');
  // Three questions of four attempts each, to which an upstream says nothing for twenty seconds, and a rest of a minute.
  fail(1_545, 'ECONNREFUSED', 'refused');
  fail(1_905, 'ECONNREFUSED', 'refused');
  throttle.note(failure('ECONNREFUSED', 'refused'), (untold) => told.push([seconds, 'of another', untold]), 'another');
  expect(told).toEqual([
    [0, 'could not extend file 0', 0],
    [600, 'could not extend file 600', 19],
    [1_200, 'could not extend file 1200', 19],
    [1_231, 'refused', 0],
    [1_232, 'Connection terminated unexpectedly', 0],
    [1_905, 'refused', 1],
    [1_905, 'of another', 0],
  ]);
});
