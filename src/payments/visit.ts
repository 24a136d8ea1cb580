import { AppError } from '../errors';
import type { PaymentsConfig } from './config';
import type { Ledger } from './ledger';
import type { Outcome, PaymentFigures, PaymentLog, Protocol, Sale, ValidProof, Work } from './protocol';
import type { Presented } from './present';
import type { Rechallenge } from './rechallenge';

/** What the corridor is made of. */
export interface CorridorParts {
  config: PaymentsConfig;
  /** Everything that is configured. */
  protocols: readonly Protocol[];
  /** What is offered at the moment. */
  offered(): readonly Protocol[];
  ledger: Ledger;
  rechallenge: Rechallenge;
  log: PaymentLog;
  figures: PaymentFigures;
}

/** One request on its way; filled in as doors open. */
export interface Visit {
  sale: Sale;
  work: Work;
  presented: Presented | null;
  payer: string | null;
  /** Made up for a buyer that shows nothing to collect its answer by, and told when its payment is in flight. Null as a rule. */
  collect_by: string | null;
}

/** A visit whose proof is valid and whose keys are reserved. */
export interface Admitted {
  visit: Visit;
  protocol: Protocol;
  proof: ValidProof;
  id: string;
  admitted_at: Date;
  /** When the work began; null before. */
  began_at: Date | null;
  /** JSON text of the answer that waited for this proof: the work was done for an earlier one. */
  waiting: string | null;
  /** Whether the answer may wait for a fresh proof should this one run out. */
  may_keep: boolean;
  /** Id of the buyer's own broadcast that already paid: nothing is left to settle. Null as a rule. */
  landed: string | null;
}

/** Thrown when money may have moved: the outcome is told as it stands, never as a 402. */
export class InFlight extends Error {
  constructor(
    readonly error: AppError,
    readonly transaction: string,
  ) {
    super(error.message);
  }
}

/** Seconds after which an unresolved payment is worth asking about again. */
const PENDING_RETRY_S = 3;

/** Sent, without a word of the chain yet; in its usual words, or in these. */
export const pending = (message?: string): AppError =>
  new AppError('settlement_pending', { retry_after_s: PENDING_RETRY_S, ...(message === undefined ? {} : { message }) });

const PENDING_HEADER = { 'X-Payment-Settlement': 'pending' };

/** How a payment in flight is told: to a buyer that shows nothing to collect its answer by, with a key that was made up for it. */
export function inFlight({ error, transaction }: InFlight, collectBy: string | null): Outcome {
  const told =
    collectBy === null
      ? error
      : new AppError(error.code, {
          ...error.context,
          message: `${error.message} The answer is collected with the header Idempotency-Key: ${collectBy}`,
          suggestion: { ...error.context.suggestion, 'Idempotency-Key': collectBy },
        });
  return { kind: 'refused', error: told, charged: 'pending', transaction, headers: PENDING_HEADER };
}

/** Seconds after which to come back for a protocol that is not configured: whoever runs the service has to switch it on first. */
export const SWITCHED_OFF_RETRY_S = 60;
