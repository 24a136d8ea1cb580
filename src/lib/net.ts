import { randomInt } from 'node:crypto';
import net, { type AddressInfo } from 'node:net';

/** Ports below those that a system gives to connections, and to servers that name none: nobody comes upon one of these by chance before it is taken. */
const [FIRST, END] = [15_000, 32_000];
const MOST_TRIES = 100;

/** A TCP port on loopback that nobody listens on at this moment, and that no connection is given. Throws if none is found in a hundred tries. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = randomInt(FIRST, END);
    const free = await tryPort(port, '127.0.0.1').then(
      () => true,
      () => false,
    );
    if (free) return port;
  }
  throw new Error(`No free port found between ${FIRST} and ${END} in ${MOST_TRIES} tries.`);
}

/**
 * Begins to listen (0: on any free port) and tells the port. Throws one clear sentence when it is taken. A connection that cannot be accepted later, for
 * want of file descriptors, is lost by itself.
 */
export function listenOn(server: net.Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} is already in use. Stop the other program, or set PORT and INTERNAL_PORT.`)
          : error,
      ),
    );
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** Throws as `listenOn` does where a server could not listen. */
export async function tryPort(port: number, host: string): Promise<void> {
  const probe = net.createServer();
  await listenOn(probe, port, host);
  await new Promise((resolve) => probe.close(resolve));
}
