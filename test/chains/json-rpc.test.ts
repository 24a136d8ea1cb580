import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { JsonRpcError, JsonRpcNode } from '../../src/chains/json-rpc';

type Answer = (body: string, response: http.ServerResponse) => void;

describe('JsonRpcNode', () => {
  let server: http.Server;
  let url: string;
  let answer: Answer;
  const seen: { body: string; headers: http.IncomingHttpHeaders; port: number | undefined }[] = [];
  const replying =
    (reply: string, status = 200): Answer =>
    (_, response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(reply);

  beforeAll(async () => {
    server = http.createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
      seen.push({ body, headers: request.headers, port: request.socket.remotePort });
      answer(body, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => seen.splice(0));

  const node = (try_ms = 5_000): JsonRpcNode => new JsonRpcNode(`http://${url}/rpc?key=1`, { try_ms });

  it('asks as JSON-RPC 2.0 and keeps its connection', async () => {
    answer = replying('{"jsonrpc":"2.0","id":1,"result":{"é":null}}');
    const rpc = node();
    expect(await rpc.call('getThing', ['ä', { b: 1 }])).toEqual({ é: null });
    expect(await rpc.call('getThing', [])).toEqual({ é: null });
    expect(seen.map(({ body }) => JSON.parse(body))).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'getThing', params: ['ä', { b: 1 }] },
      { jsonrpc: '2.0', id: 2, method: 'getThing', params: [] },
    ]);
    expect(seen[1]?.port).toBe(seen[0]?.port);
  });

  it('sends the name and password of its url', async () => {
    answer = replying('{"result":null}');
    expect(await new JsonRpcNode(`http://me:p%40ss@${url}`, { try_ms: 5_000 }).call('x', [])).toBeNull();
    expect(seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('me:p@ss').toString('base64')}`);
  });

  it('tells what the node says against a call', async () => {
    answer = replying('{"error":{"code":-32002,"message":"no","data":{"err":"AccountInUse"}},"id":1}');
    const failure = await node()
      .call('x', [])
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(JsonRpcError);
    expect(failure).toMatchObject({ code: -32002, message: 'no', data: { err: 'AccountInUse' } });
  });

  it.each<[string, Answer]>([
    ['a status other than 2xx', replying('{"result":1}', 429)],
    ['no JSON', replying('<html>')],
    ['neither result nor error', replying('{}')],
    ['null', replying('null')],
    ['an error without a code', replying('{"error":"busy"}')],
    ['a cut connection', (_, response) => void response.destroy()],
    [
      'an answer that is cut short',
      (_, response) => void response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
    ],
  ])('believes no node that answers with %s', async (_, how) => {
    answer = how;
    const failure = await node()
      .call('x', [])
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.any(String) });
    expect(failure).not.toBeInstanceOf(JsonRpcError);
  });

  it('does not read an answer of more than 16 MB to its end', async () => {
    answer = (_, response) => void response.writeHead(200).end(`{"result":"${'x'.repeat(40_000_000)}"}`);
    await expect(node().call('x', [])).rejects.toThrow();
  });

  it.each([
    ['getThing', 2],
    ['eth_sendRawTransactionSync', 1],
    ['sendTransaction', 1],
  ])('asks again for %s when its kept connection was closed under it, unless it sends: %i', async (method, times) => {
    const rpc = node();
    answer = replying('{"result":1}');
    await rpc.call('x', []);
    seen.splice(0);
    // The server closes what it has just been asked over, as if the question had crossed with the end.
    answer = (_, response) => {
      answer = replying('{"result":2}');
      response.destroy();
    };
    const said = await rpc.call(method, []).catch(() => 'nothing');
    expect([said, seen.length]).toEqual([times === 2 ? 2 : 'nothing', times]);
  });

  it('gives up on a node that stays silent', async () => {
    answer = replying('{"result":1}');
    await node().call('x', []);
    answer = () => undefined;
    await expect(node(50).call('x', [])).rejects.toThrow('no answer within 50 ms');
    // Nor is it asked again, though its connection was a kept one.
    expect([seen.length, seen[1]?.port]).toEqual([2, seen[0]?.port]);
  });
});
