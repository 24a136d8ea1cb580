/** Every error a consumer can meet: status, sentence, whether trying again can help. The only such list. */
export const ERRORS = {
  invalid_parameter: { status: 400, sentence: 'A parameter is not valid.', retryable: false },
  missing_parameter: { status: 400, sentence: 'A required parameter is missing.', retryable: false },
  range_too_large: { status: 400, sentence: 'The range holds too many buckets.', retryable: false },
  invalid_body: { status: 400, sentence: 'The body must be one JSON object.', retryable: false },
  malformed_payment: { status: 400, sentence: 'The payment proof cannot be decoded.', retryable: false },
  ambiguous_payment: { status: 400, sentence: 'More than one payment proof was sent.', retryable: false },
  method_unsupported: { status: 400, sentence: 'This payment method or mode is not accepted.', retryable: false },
  payment_required: {
    status: 402,
    sentence: 'Payment required: sign one of the offers and send the same request again with the proof.',
    retryable: false,
  },
  malformed_credential: { status: 402, sentence: 'The payment credential cannot be decoded.', retryable: false },
  verification_failed: { status: 402, sentence: 'The payment proof was refused.', retryable: false },
  payment_expired: { status: 402, sentence: 'The payment proof has expired.', retryable: false },
  payment_insufficient: { status: 402, sentence: 'The payment is less than the price.', retryable: false },
  payment_replayed: { status: 402, sentence: 'This payment proof was already used.', retryable: false },
  settlement_failed: { status: 402, sentence: 'The payment was refused by the chain; nothing was charged.', retryable: false },
  endpoint_not_found: { status: 404, sentence: 'No such endpoint.', retryable: false },
  not_found: { status: 404, sentence: 'Unknown identifier.', retryable: false },
  empty_result: { status: 404, sentence: 'The query is valid, but there is no data in its scope.', retryable: false },
  method_not_allowed: { status: 405, sentence: 'Method not allowed.', retryable: false },
  idempotency_conflict: { status: 409, sentence: 'This key was used with another request.', retryable: false },
  payment_in_progress: { status: 409, sentence: 'This payment proof is being used by a running request.', retryable: true },
  body_too_large: { status: 413, sentence: 'The body is larger than 16 KiB.', retryable: false },
  rate_limited: { status: 429, sentence: 'Too many requests.', retryable: true },
  internal: { status: 500, sentence: 'Something went wrong on our side; nothing was charged.', retryable: true },
  facilitator_error: { status: 502, sentence: 'The payment backend failed before the query ran.', retryable: true },
  at_capacity: { status: 503, sentence: 'All query slots are taken.', retryable: true },
  stale_data: { status: 503, sentence: 'The data behind this answer is too old to be sold.', retryable: true },
  maintenance: { status: 503, sentence: 'Under maintenance.', retryable: true },
  payments_unavailable: { status: 503, sentence: 'Payments cannot be verified right now; nothing was charged.', retryable: true },
  settlement_pending: {
    status: 503,
    sentence: 'The payment was sent but is not confirmed yet; send the same request again to collect the answer.',
    retryable: true,
  },
  query_timeout: { status: 504, sentence: 'The query took longer than allowed; nothing was charged.', retryable: true },
} as const satisfies Record<string, { status: number; sentence: string; retryable: boolean }>;

export type ErrorCode = keyof typeof ERRORS;

/** One problem with one input, in the words the consumer reads. */
export interface Problem {
  param: string;
  issue: string;
  allowed?: unknown;
  got?: unknown;
}

export interface ErrorContext {
  /** Replaces the table's sentence. */
  message?: string;
  reason?: string;
  details?: Problem[];
  retry_after_s?: number;
  suggestion?: Record<string, unknown>;
  fallback?: { method: string; path: string; note: string };
  cause?: unknown;
}

/** An error meant for the consumer. Anything else that is thrown becomes `internal` and is logged. */
export class AppError extends Error {
  readonly status: number;
  constructor(
    readonly code: ErrorCode,
    readonly context: ErrorContext = {},
  ) {
    const { status, sentence } = ERRORS[code];
    const [first] = context.details ?? [];
    // Of bad input its first problem says more than the table.
    const told = status === 400 && first !== undefined ? `${first.param}: ${first.issue}` : sentence;
    super(context.message ?? told, { cause: context.cause });
    this.name = 'AppError';
    this.status = status;
  }
}

/** The not_found of an identifier that stands for nothing here: it is named, with where those that do are listed. */
export const notKnown = (param: string, got: string, issue: string, fallback: ErrorContext['fallback']): AppError =>
  new AppError('not_found', { message: `${got} ${issue}.`, details: [{ param, issue, got }], fallback });
