import { askInTurn, askPatiently } from '../../src/workers/turns';
import { UpstreamError } from '../../src/workers/upstream';

// An upstream that is asked one by one, of which each is named by the status of the answer: it tells of 200 alone.

const answerOf = async (status: number | null): Promise<string> => {
  if (status !== 200) throw new UpstreamError(`upstream answered ${status}`, status);
  return 'told';
};
const [TOLD, LISTED_NOT, FAILED, REFUSED] = [200, 404, 500, 422];

test.each<[asked: (number | null)[], told: number, skipped: Record<string, number>]>([
  // Never three in a row: others are told of between them, or not listed, by which an upstream answers as well.
  [[FAILED, FAILED, TOLD, FAILED, null, TOLD, FAILED], 2, { one_not_told: 5 }],
  [[FAILED, FAILED, LISTED_NOT, FAILED, FAILED], 0, { one_not_told: 4, one_not_listed: 1 }],
  [[LISTED_NOT, 410, LISTED_NOT, FAILED, TOLD], 1, { one_not_told: 1, one_not_listed: 3 }],
  [[], 0, {}],
])('while it fails at few of %j it is up, where their turn comes again', async (asked, told, skipped) => {
  const all = await askInTurn('one', asked, answerOf, true);
  expect([all.told.length, all.skipped]).toEqual([told, skipped]);
});

test('where no turn comes again, only what it refuses or does not list is left out', async () => {
  expect(await askInTurn('one', [400, REFUSED, TOLD, LISTED_NOT], answerOf, false)).toEqual({
    told: [{ one: TOLD, answer: 'told' }],
    skipped: { one_not_told: 2, one_not_listed: 1 },
  });
  await expect(askInTurn('one', [TOLD, FAILED, TOLD], answerOf, false)).rejects.toThrow('answered 500');
});

test.each([true, false])('at three in a row it is down (whether their turn comes again: %s)', async (again) =>
  expect(askInTurn('one', [TOLD, REFUSED, 400, REFUSED, TOLD], answerOf, again)).rejects.toThrow('answered 422'),
);

const bug = (): Promise<never> => Promise.reject(new TypeError('of ours'));
const patiently = (asked: number[], failing = {}, ask: (one: number) => Promise<string> = answerOf) =>
  askPatiently('one', asked, String, ask, { failing });

test('a fault of ours is none of the upstream’s', async () => {
  await expect(askInTurn('one', [TOLD], bug, true)).rejects.toThrow(TypeError);
  await expect(patiently([TOLD], {}, bug)).rejects.toThrow(TypeError);
});

test('at whom it has failed is named with how often, nobody else, and forgotten once all are told of', async () => {
  const failed = await patiently([TOLD, FAILED, LISTED_NOT], { [FAILED]: 3 });
  expect([failed.failing, failed.told, failed.failure?.status]).toEqual([{ [FAILED]: 4 }, [], FAILED]);
  expect(await patiently([TOLD], { [TOLD]: 4 })).toMatchObject({ failing: {}, failure: null });
});

test('who was waited for long enough is asked last, and told of where it can be', async () => {
  const asked: number[] = [];
  const ask = (one: number): Promise<string> => (asked.push(one), answerOf(one === 1 ? TOLD : one));
  const { told, skipped, failing } = await patiently([FAILED, 1, TOLD], { [FAILED]: 5, 1: 5 }, ask);
  expect(asked).toEqual([TOLD, FAILED, 1]);
  expect([told.map(({ one }) => one), skipped, failing]).toEqual([[TOLD, 1], { one_not_told: 1 }, {}]);
});
