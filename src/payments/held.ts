import { AppError } from '../errors';
import type { HeldPayment, PaymentState } from './claims';
import type { Sale } from './protocol';

/** What is to be done with a request some of whose keys are already held. */
export type HeldVerdict =
  | { kind: 'free' }
  | { kind: 'refuse'; error: AppError }
  /** Hand out the kept answer. */
  | { kind: 'replay'; held: HeldPayment; answer: string }
  /** Send and ask the chain again: the buyer is there and wants it. */
  | { kind: 'resume'; held: HeldPayment }
  /** Paid by the buyer's own broadcast, never served. */
  | { kind: 'serve'; held: HeldPayment }
  /** Money may be moving; say so and nothing else. */
  | { kind: 'pending'; held: HeldPayment };

const IN_PROGRESS_RETRY_S = 2;

/** Whether a payment was made for this request: the same by what it means, or, where a new version takes other defaults, the same by its words. */
export const isFor = ({ request_hash, record }: HeldPayment, sale: Pick<Sale, 'request_hash' | 'sent_hash'>): boolean =>
  request_hash === sale.request_hash || record.details.sent_hash === sale.sent_hash;

/**
 * The rules of idempotency. An answer is given again only to somebody who shows what no chain shows (a challenge id, a quote
 * token, a key of its own), is the payer, and asks the same: a landed transaction can be copied by anybody.
 */
export function judgeHeld(held: readonly HeldPayment[], payer: string, sale: Pick<Sale, 'request_hash' | 'sent_hash'>): HeldVerdict {
  if (held.some((one) => one.by.includes('buyer') && !isFor(one, sale))) return refuse('idempotency_conflict');
  const mine = held.find(
    (one) => (one.by.includes('secret') || one.by.includes('buyer')) && one.record.payer === payer && isFor(one, sale),
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
      return answer === null ? { kind: 'pending', held } : { kind: 'resume', held };
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
  if (held.by.every((kind) => kind === 'turn')) return { kind: 'refuse', error: isRunning(held.state) ? turnTaken() : turnOver() };
  if (isRunning(held.state)) return refuse('payment_in_progress');
  return held.state === 'UNKNOWN' ? { kind: 'pending', held } : refuse('payment_replayed');
}

function isRunning(state: PaymentState): boolean {
  return ['RESERVED', 'EXECUTING', 'RESULT_READY', 'BROADCASTING'].includes(state);
}

function turnTaken(): AppError {
  return new AppError('payment_in_progress', {
    message:
      'Another payment of this wallet with the same nonce is being used by a running request. This one was not used: sign with another nonce, or wait.',
    retry_after_s: IN_PROGRESS_RETRY_S,
  });
}

function turnOver(): AppError {
  return new AppError('verification_failed', {
    reason: 'nonce_mismatch',
    message: 'Another payment of this wallet with the same nonce was settled; sign with the next one.',
  });
}

function refuse(code: 'idempotency_conflict' | 'payment_in_progress' | 'payment_replayed'): HeldVerdict {
  const context = {
    idempotency_conflict: {},
    payment_in_progress: { retry_after_s: IN_PROGRESS_RETRY_S },
    payment_replayed: { reason: 'invalid_challenge' },
  }[code];
  return { kind: 'refuse', error: new AppError(code, context) };
}
