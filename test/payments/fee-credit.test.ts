import { AppError, type ErrorCode } from '../../src/errors';
import { FeeCredit } from '../../src/payments/fee-credit';
import type { Outcome } from '../../src/payments/protocol';

const PAID: Outcome = { kind: 'paid', answer: null, replayed: false, headers: {} };

/** Payments of one payer that end when they are told to. */
function paymentsOf(credit: FeeCredit, payer: string, count: number) {
  const begun: { settle(): void; fail(code?: ErrorCode): void }[] = [];
  const outcomes = Array.from({ length: count }, () =>
    credit
      .run(
        payer,
        () =>
          new Promise((resolve, reject) =>
            begun.push({ settle: () => resolve(PAID), fail: (code = 'settlement_failed') => reject(new AppError(code)) }),
          ),
      )
      .catch(() => null),
  );
  return { begun, outcomes };
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('payments whose fee is ours', () => {
  it('are so many of one payer at first, and with each that is settled one more', async () => {
    const { begun, outcomes } = paymentsOf(new FeeCredit(3), 'payer', 9);
    await tick();
    expect(begun).toHaveLength(3);
    begun[0]?.settle();
    await tick();
    expect(begun).toHaveLength(5);
    begun.slice(1).forEach(({ settle }) => settle());
    await tick();
    begun.slice(5).forEach(({ settle }) => settle());
    expect(await Promise.all(outcomes)).toEqual(Array(9).fill(PAID));
  });

  it('begin anew where one fails', async () => {
    const credit = new FeeCredit(1);
    const { begun, outcomes } = paymentsOf(credit, 'payer', 6);
    await tick();
    begun[0]?.settle();
    await tick();
    expect(begun).toHaveLength(3);
    begun[1]?.fail();
    await tick();
    expect(begun).toHaveLength(3);
    begun[2]?.fail();
    await tick();
    expect(begun).toHaveLength(4);
    for (let next = 3; next < 6; next += 1) {
      begun[next]?.fail();
      await tick();
    }
    await Promise.all(outcomes);
  });

  it('go on as before where one was not sent: it cost nothing', async () => {
    const { begun, outcomes } = paymentsOf(new FeeCredit(1), 'payer', 4);
    await tick();
    begun[0]?.settle();
    await tick();
    begun[1]?.fail('payment_expired');
    await tick();
    expect(begun).toHaveLength(4);
    begun.slice(2).forEach(({ settle }) => settle());
    await Promise.all(outcomes);
  });

  it('of one payer do not wait for those of another', async () => {
    const credit = new FeeCredit(1);
    paymentsOf(credit, 'one', 2);
    const { begun } = paymentsOf(credit, 'other', 1);
    await tick();
    expect(begun).toHaveLength(1);
  });
});
