/** One Ctrl-C may come twice: from the terminal, and handed on by npm. */
const ECHO_MS = 500;

/** Resolves at the first SIGINT, SIGTERM or SIGHUP, after `told`; one that comes later and is not its echo ends the process at once. */
export function untilSignal(told: () => void): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const ask = (): void => {
      if (first === undefined) {
        first = performance.now();
        told();
        resolve();
      } else if (performance.now() - first > ECHO_MS) process.exit(130);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, ask);
  });
}
