import { AppError } from '../errors';
import type { HeldPayment, PaymentState } from './claims';

/** What is to be done with a request some of whose keys are already held. */
export type HeldVerdict =
  | { kind: 'free' }
  | { kind: 'refuse'; error: AppError }
  /** Hand out the kept answer. */
  | { kind: 'replay'; held: HeldPayment; answer: string }
  /** Send and ask the chain again: the buyer is there and wants it. */
  | { kind: 'resume'; held: HeldPayment; answer: string }
  /** Paid by the buyer's own broadcast, never served. */
  | { kind: 'serve'; held: HeldPayment }
  /** Money may be moving; say so and nothing else. */
  | { kind: 'pending'; held: HeldPayment };

const IN_PROGRESS_RETRY_S = 2;

/**
 * The rules of idempotency. An answer is given again only to somebody who shows what no chain shows (a challenge id, a quote
 * token, a key of its own), is the payer, and asks the same: a landed transaction can be copied by anybody.
 */
export function judgeHeld(held: readonly HeldPayment[], payer: string, requestHash: string): HeldVerdict {
  if (held.some(({ by, request_hash }) => by.includes('buyer') && request_hash !== requestHash)) return refuse('idempotency_conflict');
  const mine = held.find(
    ({ by, record, request_hash }) =>
      (by.includes('secret') || by.includes('buyer')) && record.payer === payer && request_hash === requestHash,
  );
  if (mine !== undefined) return collect(mine);
  const [other] = held;
  return other === undefined ? { kind: 'free' } : withoutSecret(other);
}

function collect(held: HeldPayment): HeldVerdict {
  const { state, answer, reason } = held;
  switch (state) {
    case 'RESERVED':
    case 'EXECUTING':
    case 'RESULT_READY':
    case 'BROADCASTING':
      return refuse('payment_in_progress');
    case 'UNKNOWN':
      return answer === null ? { kind: 'pending', held } : { kind: 'resume', held, answer };
    case 'OWED':
      return { kind: 'serve', held };
    case 'CONFIRMED':
    case 'DELIVERED':
      return answer === null ? refuse('payment_replayed') : { kind: 'replay', held, answer };
    case 'REJECTED_ONCHAIN':
    case 'EXPIRED':
      return { kind: 'refuse', error: new AppError('settlement_failed', { reason: reason ?? undefined }) };
    case 'RELEASED':
    case 'ROLLED_BACK':
      return refuse('payment_replayed');
  }
}

function withoutSecret(held: HeldPayment): HeldVerdict {
  if (isRunning(held.state)) return refuse('payment_in_progress');
  return held.state === 'UNKNOWN' ? { kind: 'pending', held } : refuse('payment_replayed');
}

function isRunning(state: PaymentState): boolean {
  return ['RESERVED', 'EXECUTING', 'RESULT_READY', 'BROADCASTING'].includes(state);
}

function refuse(code: 'idempotency_conflict' | 'payment_in_progress' | 'payment_replayed'): HeldVerdict {
  const context = {
    idempotency_conflict: {},
    payment_in_progress: { retry_after_s: IN_PROGRESS_RETRY_S },
    payment_replayed: { reason: 'invalid_challenge' },
  }[code];
  return { kind: 'refuse', error: new AppError(code, context) };
}
