import pino, { type Logger } from 'pino';

export type { Logger };

/** Headers that carry proofs of payment: they never reach a log. */
const SECRET_HEADERS = ['authorization', 'payment-signature', 'x-payment', 'cookie', 'idempotency-key'] as const;

/** JSON lines on stderr, so that stdout stays for people. `level` as in pino; `silent` logs nothing. */
export function makeLogger(level: string): Logger {
  const redact = SECRET_HEADERS.flatMap((header) => [`headers["${header}"]`, `*.headers["${header}"]`]);
  return pino({ level, redact, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: false }));
}
