import { RpcPool, RpcUnavailable } from '../../src/chains/rpc';
import { pause } from '../../src/lib/deadline';

const options = { try_ms: 100, max_in_flight: 2 };
const never = (): Promise<never> => new Promise(() => undefined);

describe('RpcPool', () => {
  it('asks one after the other and stays with the one that answered', async () => {
    const asked: string[] = [];
    const pool = new RpcPool(['dead', 'alive'], options);
    const ask = async (client: string): Promise<string> => {
      asked.push(client);
      if (client === 'dead') throw new Error('refused');
      return client;
    };
    expect(await pool.first(ask)).toBe('alive');
    expect(await pool.first(ask)).toBe('alive');
    expect(asked).toEqual(['dead', 'alive', 'alive']);
  });

  it('goes on when one hangs, and says so when none answers', async () => {
    const pool = new RpcPool(['hangs', 'alive'], options);
    expect(await pool.first((client) => (client === 'hangs' ? never() : Promise.resolve(client)))).toBe('alive');
    await expect(pool.first(() => Promise.reject(new Error('no')))).rejects.toThrow(RpcUnavailable);
  });

  it('asks all at once and never rejects', async () => {
    const pool = new RpcPool(['a', 'b'], options);
    const replies = await pool.all((client) => (client === 'a' ? never() : Promise.resolve(client)));
    expect(replies.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  });

  it('stops for the signal, with its reason', async () => {
    const stop = new AbortController();
    const asking = new RpcPool(['a', 'b'], { ...options, try_ms: 10_000 }).first(never, stop.signal);
    const enough = new Error('enough');
    stop.abort(enough);
    await expect(asking).rejects.toBe(enough);
  });

  it('keeps questions under way below its limit, and loses none', async () => {
    const pool = new RpcPool(['a'], { try_ms: 1_000, max_in_flight: 3 });
    let [now, most] = [0, 0];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        pool.first(async () => {
          now += 1;
          most = Math.max(most, now);
          await pause(5);
          now -= 1;
          return index;
        }),
      ),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, index) => index));
    expect(most).toBe(3);
  });

  it('lets the next one go when one that waits is aborted', async () => {
    const pool = new RpcPool(['a'], { try_ms: 1_000, max_in_flight: 1 });
    const stop = new AbortController();
    const first = pool.first(() => pause(50));
    const aborted = pool.first(() => Promise.resolve('never asked'), stop.signal);
    const last = pool.first(() => Promise.resolve('last'));
    stop.abort(new Error('gone'));
    let ended = false;
    void first.then(() => (ended = true));
    await expect(aborted).rejects.toThrow('gone');
    // It is not kept in line until its turn.
    expect(ended).toBe(false);
    await first;
    expect(await last).toBe('last');
  });

  it('needs a provider', () => expect(() => new RpcPool([])).toThrow('at least one'));
});
