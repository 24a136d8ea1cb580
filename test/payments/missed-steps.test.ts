import { AppError } from '../../src/errors';
import { MissedSteps } from '../../src/payments/missed-steps';

describe('steps that a database did not answer', () => {
  let away = true;
  let taken: string[] = [];
  const step = (name: string) => async (): Promise<string> => {
    if (away) throw new AppError('payments_unavailable');
    taken.push(name);
    return name;
  };
  beforeEach(() => {
    away = true;
    taken = [];
  });

  it('are taken in their order once it is back, each once', async () => {
    const missed = new MissedSteps();
    for (const name of ['confirm', 'owe']) await expect(missed.surely(step(name))).rejects.toThrow(AppError);
    await expect(missed.catchUp()).rejects.toThrow(AppError);
    away = false;
    expect(await missed.surely(step('release'))).toBe('release');
    await missed.catchUp();
    await missed.catchUp();
    expect(taken).toEqual(['release', 'confirm', 'owe']);
  });

  it('are taken before one that is taken in its turn, whoever else takes them meanwhile; away, it waits behind them', async () => {
    const missed = new MissedSteps();
    await expect(missed.surely(step('confirm'))).rejects.toThrow(AppError);
    await expect(missed.inTurn(step('take back'))).rejects.toThrow(AppError);
    away = false;
    let goOn: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (goOn = resolve));
    missed.add(() => slow.then(step('slow')));
    const catching = missed.catchUp();
    const turn = missed.inTurn(step('take back too'));
    goOn();
    await Promise.all([catching, turn]);
    expect(taken).toEqual(['confirm', 'take back', 'slow', 'take back too']);
  });

  it('are given up where it answers with an error', async () => {
    const missed = new MissedSteps();
    const refused = (): Promise<never> => Promise.reject(new Error('no such column'));
    await expect(missed.surely(refused)).rejects.toThrow('no such column');
    await missed.catchUp();
    missed.add(refused);
    missed.add(step('release'));
    away = false;
    await expect(missed.catchUp()).rejects.toThrow('no such column');
    await missed.catchUp();
    expect(taken).toEqual(['release']);
  });

  it('do not pile up: what can be spared is left out first', async () => {
    const missed = new MissedSteps();
    for (let count = 0; count < 5_000; count += 1) missed.add(step('let go'));
    await expect(missed.surely(step('owe'))).rejects.toThrow(AppError);
    away = false;
    await missed.catchUp();
    expect([taken.length, taken.at(-1)]).toEqual([1_001, 'owe']);
  });
});
