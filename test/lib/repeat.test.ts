import { setTimeout as sleep } from 'node:timers/promises';
import { repeat } from '../../src/lib/repeat';

test('one run after the other, none beside it; stopping waits for the run at work and lets no other begin', async () => {
  let [begun, atWork, most] = [0, 0, 0];
  const work = async (): Promise<void> => {
    begun += 1;
    most = Math.max(most, (atWork += 1));
    await sleep(5);
    atWork -= 1;
  };
  const repeated = repeat(work, 1, 'at once');
  expect(begun).toBe(1);
  while (begun < 4) await sleep(1);
  await repeated.stop();
  const ended = begun;
  expect([atWork, most]).toEqual([0, 1]);
  await sleep(20);
  expect(begun).toBe(ended);
});

test('the first run is later unless said, and never when it is stopped before; work is told that it should end', async () => {
  let begun = 0;
  const early = repeat(async () => void (begun += 1), 20);
  await early.stop();
  await sleep(40);
  expect(begun).toBe(0);

  const heard: boolean[] = [];
  const long = repeat(
    async (stopped) => {
      heard.push(stopped());
      while (!stopped()) await sleep(1);
      heard.push(stopped());
    },
    1,
    'at once',
  );
  await sleep(5);
  await long.stop();
  expect(heard).toEqual([false, true]);
});
