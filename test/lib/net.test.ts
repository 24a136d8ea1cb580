import crypto from 'node:crypto';
import net, { type AddressInfo } from 'node:net';
import { freePort, listenOn } from '../../src/lib/net';

const listen = (port: number): Promise<net.Server> =>
  new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
const close = (server: net.Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

afterEach(() => jest.restoreAllMocks());

/** The first port that a system gives to servers that name none, unless it is set otherwise: Linux's, the lowest. */
const LOWEST_GIVEN = 32_768;

test('a free port can be listened on, and is none that servers without a port are given', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort()));
  for (const port of ports) await close(await listen(port));
  expect(Math.max(...ports)).toBeLessThan(LOWEST_GIVEN);
});

test('a port that is taken is passed over', async () => {
  const holder = await listen(await freePort());
  const { port } = holder.address() as AddressInfo;
  const other = await freePort();
  jest
    .spyOn(crypto, 'randomInt')
    .mockImplementationOnce(() => port)
    .mockImplementationOnce(() => other);
  expect(await freePort()).toBe(other);
  await close(holder);
});

test('says so when no port is free', async () => {
  const holder = await listen(await freePort());
  const { port } = holder.address() as AddressInfo;
  jest.spyOn(crypto, 'randomInt').mockImplementation(() => port);
  await expect(freePort()).rejects.toThrow('No free port found between 15000 and 32000 in 100 tries.');
  await close(holder);
});

test('a server that listens outlives connections that it cannot accept', async () => {
  const server = net.createServer();
  const port = await listenOn(server, 0, '127.0.0.1');
  for (let times = 0; times < 3; times += 1) server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }));
  expect((server.address() as AddressInfo).port).toBe(port);
  await close(server);
});
