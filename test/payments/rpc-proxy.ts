import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RpcCall {
  id: unknown;
  method: string;
  params: unknown[];
}

export interface RpcProxy {
  url: string;
  calls: RpcCall[];
  close(): Promise<void>;
}

/** A second provider of the chain behind `target`, which may lie: what `bend` returns is the result, undefined lets the truth through. */
export async function rpcProxy(target: string, bend: (call: RpcCall) => unknown = () => undefined): Promise<RpcProxy> {
  const calls: RpcCall[] = [];
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = JSON.parse(Buffer.concat(chunks).toString()) as RpcCall;
      calls.push(call);
      const lie = bend(call);
      const reply =
        lie === undefined
          ? fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(call) }).then((answer) =>
              answer.text(),
            )
          : Promise.resolve(JSON.stringify({ jsonrpc: '2.0', id: call.id, result: lie }));
      void reply.then((text) => response.writeHead(200, { 'content-type': 'application/json' }).end(text));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
