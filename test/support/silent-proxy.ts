import net from 'node:net';

/** A way to the database on which connections can be lost without a word. */
export interface SilentProxy {
  url: string;
  /** From now on the connections that are made carry nothing, and say nothing; new ones work. Tells how many. */
  silence(): number;
  stop(): Promise<void>;
}

/** What a fail-over or a forgetful router on the way to the database at `target` does. */
export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const { hostname, port } = new URL(target);
  const all = new Set<net.Socket>();
  let carrying: [net.Socket, net.Socket][] = [];
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    carrying.push([near, far]);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      // prettier-ignore
      all.add(one);
      one.on('error', () => other.destroy()).on('close', () => all.delete(one));
    }
    near.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: url.href,
    silence: () => {
      const live = carrying.filter(([near]) => !near.destroyed);
      carrying = [];
      for (const [near, far] of live) {
        near.unpipe(far).resume();
        far.unpipe(near);
        far.destroy();
      }
      return live.length;
    },
    stop: async () => {
      for (const socket of all) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
