import pino, { type Logger } from 'pino';

export type { Logger };

/** Headers that carry proofs of payment: they never reach a log. */
const SECRET_HEADERS = ['authorization', 'payment-signature', 'x-payment', 'cookie', 'idempotency-key'] as const;

/** What waits in memory while nothing can be written. */
const MOST_WAITING_BYTES = 1_048_576;

let stderr: ReturnType<typeof pino.destination> | undefined;

/** JSON lines on stderr, so that stdout stays for people. `level` as in pino; `silent` logs nothing. */
export function makeLogger(level: string): Logger {
  const redact = SECRET_HEADERS.flatMap((header) => [`headers["${header}"]`, `*.headers["${header}"]`]);
  return pino({ level, redact, base: undefined, timestamp: pino.stdTimeFunctions.isoTime }, (stderr ??= openStderr()));
}

/** Where it has no room, as a file on a full disk, the work goes on; what still waits at its end is given up, which the exit code says. */
function openStderr(): ReturnType<typeof pino.destination> {
  const destination = pino.destination({ dest: 2, sync: false, maxLength: MOST_WAITING_BYTES });
  let failure: string | undefined;
  destination.on('error', ({ code }: NodeJS.ErrnoException) => (failure = code));
  destination.on('write', () => (failure = undefined));
  const giveUp = (): void => {
    if (failure === undefined) return;
    // It would try for ever.
    destination.destroy();
    // Who reads along may go away.
    if (failure === 'ENOSPC') process.exitCode ||= 1;
  };
  process.on('beforeExit', giveUp);
  process.prependListener('exit', giveUp);
  return destination;
}
