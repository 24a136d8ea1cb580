import type { Pool } from 'pg';
import { createPayments } from '../../src/payments/charge';
import type { PostJson } from '../../src/chains/json-rpc';
import { PAYMENT_DEFAULTS, type TempoPaymentConfig } from '../../src/payments/config';
import { rememberingLog, SECRET } from './till';

describe('a process whose database says nothing', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  const silent = { query: () => new Promise(() => undefined) } as unknown as Pool;
  const pass = async (ms: number): Promise<void> => {
    jest.advanceTimersByTime(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };

  /** Payments, and how often they reported that their process lives: over a connection that brings `reply`. */
  async function opened(reply: () => Promise<unknown> = async () => undefined, chain?: { tempo: TempoPaymentConfig; post: PostJson }) {
    const logged: string[] = [];
    let beats = 0;
    const heart = { query: () => ((beats += 1) === 1 ? Promise.resolve() : reply()) } as unknown as Pool;
    const settings = { realm: 'api.example.com', secrets: [SECRET], tempo: chain?.tempo ?? (false as const) };
    const payments = await createPayments(settings, { pool: silent, heart, logger: rememberingLog(logged), post: chain?.post });
    return { payments, logged, beats: () => beats };
  }

  it('waits for it no longer than ten seconds when it stops, and is heard of no more', async () => {
    const { payments, logged, beats } = await opened();
    let stopped = false;
    const stopping = payments.stop().then(() => (stopped = true));
    await pass(0);
    await pass(9_999);
    expect(stopped).toBe(false);
    await pass(1);
    expect([stopped, logged.join()]).toEqual([true, expect.stringContaining('the ledger did not hear the end')]);
    await stopping;
    const heard = beats();
    await pass(60_000);
    expect(beats()).toBe(heard);
  });

  it('tells how the ways to pay are within three seconds', async () => {
    const { payments } = await opened();
    let told: unknown = null;
    void payments.health().then((health) => (told = health));
    await pass(3_000);
    await pass(0);
    expect(told).toMatchObject({ x402: { status: 'off', last_settlement_at: null } });
    void payments.stop();
  });

  it('asks its chains how they are from its start on: a way to pay that is gone is told, once', async () => {
    const tempo = { rpc_urls: ['http://tempo'], pay_to: `0x${'1'.repeat(40)}`, chain_id: 42_431, usdc: `0x${'2'.repeat(40)}` };
    const { payments, logged } = await opened(undefined, { tempo, post: () => Promise.reject(new Error('nobody there')) });
    const isDown = (): number => logged.filter((line) => line.includes('a way to pay is down')).length;
    void payments.start();
    await pass(0);
    for (let probes = 0; probes < 4; probes += 1) {
      await pass(15_000);
      expect(isDown()).toBe(probes === 0 ? 0 : 1);
    }
    void payments.stop();
  });

  it('reports several times in the time after which it would be taken for dead, though a report is lost', async () => {
    const unheard = jest.fn();
    process.on('unhandledRejection', unheard);
    const { payments, beats } = await opened(() => Promise.reject(new Error('lost')));
    await pass(PAYMENT_DEFAULTS.instance_stale_ms);
    expect(beats()).toBeGreaterThan(3);
    process.off('unhandledRejection', unheard);
    expect(unheard).not.toHaveBeenCalled();
    void payments.stop();
  });
});
