import { randomInt } from 'node:crypto';
import net from 'node:net';

/** Ports below those that a system gives to connections, and to servers that name none: nobody comes upon one of these by chance before it is taken. */
const [FIRST, END] = [15_000, 32_000];
const MOST_TRIES = 100;

/** A TCP port on loopback that nobody listens on at this moment, and that no connection is given. Throws if none is found in a hundred tries. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = randomInt(FIRST, END);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port found between ${FIRST} and ${END} in ${MOST_TRIES} tries.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = net.createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
