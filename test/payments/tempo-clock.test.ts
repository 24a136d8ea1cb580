import type { TempoChain } from '../../src/chains/tempo';
import { AppError } from '../../src/errors';
import type { ValidProof } from '../../src/payments/protocol';
import { TempoSettlement } from '../../src/payments/protocols/tempo-settlement';

// A payment's time is judged by the chain's clock, by which it will be mined or refused.

const START = Date.parse('2026-03-01T13:00:00Z');
const { signal } = new AbortController();

/** A chain that makes blocks, or made its last one at START. */
const chainThat = (runs: boolean, from = performance.now()): TempoChain =>
  ({
    head: async () => ({ number: 1n, time: Math.floor((START + (runs ? performance.now() - from : 0)) / 1_000), base_fee: 1n }),
    receipt: async () => null,
    balance: async () => 1_000_000_000n,
    feeToken: async () => null,
    simulate: async () => null,
  }) as unknown as TempoChain;

/** What becomes of a payment that lives for 25 seconds from `now` on, and how many of them the work may take. */
async function admitted(settlement: TempoSettlement, now: number): Promise<unknown[]> {
  const details = {
    nonce_key: (2n ** 256n - 1n).toString(),
    nonce: '0',
    gas: '105000',
    max_fee_per_gas: '1000',
    sender: '0x1',
    access_key: null,
    valid_before: Math.floor(now / 1_000) + 25,
    valid_after: null,
    fee_token: null,
    call_data: '0x',
    memo: null,
    token: '0xt',
    recipient: '0xr',
  };
  const proof = { details, transaction: '0x', amount: 1n } as unknown as ValidProof;
  try {
    const { settle_by } = await settlement.admit(proof, signal);
    return ['admitted', Math.round(((settle_by as Date).getTime() - Date.now()) / 1_000)];
  } catch (error) {
    return error instanceof AppError ? [error.code, error.context.reason] : [error];
  }
}

describe.each([
  ['right', 0],
  ['21 seconds ahead', 21],
  ['20 seconds behind', -20],
])('our clock is %s', (_, ahead) => {
  beforeEach(() => jest.useFakeTimers({ now: START + ahead * 1_000 }));
  afterEach(() => jest.useRealTimers());

  async function watched(runs: boolean): Promise<TempoSettlement> {
    const settlement = new TempoSettlement(chainThat(runs), { info() {}, warn() {}, error() {} });
    await settlement.watchClock(signal);
    jest.advanceTimersByTime(15_000);
    await settlement.watchClock(signal);
    return settlement;
  }

  test('a payment lives as long as the chain lets it', async () => {
    expect(await admitted(await watched(true), START + 15_000)).toEqual(['admitted', 21]);
  });

  test('where the chain makes no blocks, ours is the only one', async () => {
    const settlement = await watched(false);
    jest.advanceTimersByTime(60_000);
    expect(await admitted(settlement, Math.max(Date.now(), START))).toEqual(['admitted', 21]);
  });
});

test('a clock that is set right is right at once', async () => {
  jest.useFakeTimers({ now: START + 21_000 });
  try {
    const settlement = new TempoSettlement(chainThat(true), { info() {}, warn() {}, error() {} });
    await settlement.watchClock(signal);
    jest.advanceTimersByTime(15_000);
    await settlement.watchClock(signal);
    jest.setSystemTime(START + 15_000);
    expect(await admitted(settlement, START + 15_000)).toEqual(['admitted', 21]);
  } finally {
    jest.useRealTimers();
  }
});
