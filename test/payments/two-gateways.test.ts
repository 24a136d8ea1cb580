import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import type { BuyerProtocol } from '../../src/sandbox/buyer';
import { type SandboxChains, startSandboxChains } from '../../src/sandbox/sandbox';
import { readSandboxWallets } from '../../src/sandbox/wallets';
import { fundedBuyer } from '../bench/payments/chains';
import { type Proof, signProofs, signWith } from '../bench/payments/buyers';
import { testDatabase } from '../support/database';
import { loadWorld } from '../support/world';
import { chainEnvironment, counterOf, type GatewayProcess, startGateway } from './gateway-process';
import { holdQueries } from './held-query';
import { until } from './till';

// Two processes of the real program on one database and one chain, and nothing else in common.

const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-02T00:00:00Z';
const PATH = '/api/v1/perps/platform/stats';
const PRICE = 10_000n;
const COPIES = 200;
const BROADCASTS = {
  x402: ['sendTransaction'],
  solana: ['sendTransaction'],
  tempo: ['eth_sendRawTransactionSync', 'eth_sendRawTransaction'],
};

interface Reply {
  status: number;
  code: string | undefined;
  retryAfter: string | undefined;
  receipt: boolean;
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'two-gateways-'));
let chains: SandboxChains;
let database: Awaited<ReturnType<typeof testDatabase>>;
let gateways: [GatewayProcess, GatewayProcess];

beforeAll(async () => {
  [chains, database] = await Promise.all([startSandboxChains(folder), testDatabase()]);
  await loadWorld(database.pool, 'perps', 1_000, START, new Date(NOW));
  const environment = { ...chainEnvironment(chains), CLOCK: NOW };
  gateways = await Promise.all([startGateway(database.url, environment), startGateway(database.url, environment)]);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await Promise.all([chains.stop(), database.drop()]);
  fs.rmSync(folder, { recursive: true, force: true });
});

function send(url: string, proof: Proof, agent: http.Agent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = http.get(url, { agent, headers: proof }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
      response.on('end', () => {
        const { headers, statusCode: status = 0 } = response;
        const receipt = headers['payment-response'] !== undefined || headers['payment-receipt'] !== undefined;
        resolve({ status, code: (JSON.parse(body) as { code?: string }).code, retryAfter: headers['retry-after'], receipt });
      });
    });
    sent.once('error', reject);
  });
}

/** Micro-USDC of the merchant on both chains. */
async function earned(): Promise<bigint> {
  const { solana, tempo } = readSandboxWallets(folder);
  return (await chains.solana.usdcBalance(solana.pay_to)) + ((await chains.tempo?.usdcBalance(tempo?.pay_to as string)) ?? 0n);
}

const broadcasts = (protocol: BuyerProtocol): number => {
  const { faults } = protocol === 'tempo' ? (chains.tempo as NonNullable<SandboxChains['tempo']>) : chains.solana;
  return BROADCASTS[protocol].reduce((sum, method) => sum + faults.calls(method), 0);
};

const executions = async (): Promise<number> => {
  const counts = await Promise.all(gateways.map((gateway) => counterOf(gateway, 'query_seconds_count', 'platform/stats')));
  return counts.reduce((sum, count) => sum + count, 0);
};

/** The states each payment of a protocol has gone through. */
async function historiesOf(protocol: BuyerProtocol): Promise<string[][]> {
  const name = { x402: 'x402', tempo: 'mpp_tempo', solana: 'mpp_solana' }[protocol];
  const { rows } = await database.pool.query<{ states: string[] }>(
    'SELECT array_agg(s.state ORDER BY s.step) AS states FROM payment p JOIN payment_step s ON s.payment_id = p.id WHERE protocol = $1 GROUP BY p.id',
    [name],
  );
  return rows.map(({ states }) => states);
}

test.each(['x402', 'tempo', 'solana'] as const)(
  `${COPIES} copies of one %s proof at two gateways: one execution, one broadcast, one sale`,
  async (protocol) => {
    const buyer = await fundedBuyer(chains, readSandboxWallets(folder));
    // Parameters of its own: what another protocol's sale left in the answer cache would make the execution invisible.
    const target = `${PATH}?timeframe=${{ x402: '24h', tempo: '12h', solana: '4h' }[protocol]}`;
    const [proof] = await signProofs(`${gateways[0].url}${target}`, 1, [await signWith(protocol, buyer)]);
    const [received, sent, executed] = [await earned(), broadcasts(protocol), await executions()];
    const agent = new http.Agent({ keepAlive: true, maxSockets: COPIES });
    const release = await holdQueries(database.pool, 'perp_');
    let waiting = COPIES;
    const replies = Array.from({ length: COPIES }, async (_, index) => {
      const reply = await send(`${(gateways[index % 2] as GatewayProcess).url}${target}`, proof as Proof, agent);
      waiting -= 1;
      // The sale is held inside its query until every other copy has its answer.
      if (waiting === 1) await release();
      return reply;
    });
    const all = await Promise.all(replies);
    agent.destroy();
    const won = all.filter(({ status }) => status === 200);
    const lost = all.filter(({ status }) => status !== 200);
    expect(won).toEqual([{ status: 200, code: undefined, retryAfter: undefined, receipt: true }]);
    expect(lost).toHaveLength(COPIES - 1);
    for (const reply of lost)
      expect(reply).toEqual({ status: 409, code: 'payment_in_progress', retryAfter: expect.stringMatching(/^[1-9]\d*$/), receipt: false });
    expect([(await earned()) - received, broadcasts(protocol) - sent, (await executions()) - executed]).toEqual([PRICE, 1, 1]);
    // Deliveries are written down a moment after their answers.
    await until(async () => (await historiesOf(protocol)).every((states) => states.at(-1) === 'DELIVERED'));
    expect(await historiesOf(protocol)).toEqual([['RESERVED', 'EXECUTING', 'RESULT_READY', 'BROADCASTING', 'CONFIRMED', 'DELIVERED']]);
  },
  300_000,
);
