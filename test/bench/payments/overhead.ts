import crypto from 'node:crypto';
import { openKeyedPool } from '../../../src/db/keyed-pool';
import { makeLogger } from '../../../src/observability/logger';
import { createPayments } from '../../../src/payments/charge';
import type { Outcome, Payments, Sale } from '../../../src/payments/protocol';
import type { BuyerProtocol } from '../../../src/sandbox/buyer';
import { startSandboxChains } from '../../../src/sandbox/sandbox';
import { readSandboxWallets } from '../../../src/sandbox/wallets';
import { type Proof, type Sign, signWith } from './buyers';
import { type BenchWallets, fundedBuyer } from './chains';
import { serve } from '../child';
import { startProfile, stopProfile } from '../profile';
import { RecordedRpc } from './recorded-rpc';
import { timedPool } from './timed-pool';

/** One `payments.charge`, milliseconds. */
export interface Sample {
  total: number;
  sql: number;
  /** Processor time of our process, all threads. */
  cpu: number;
  statements: number;
  calls: number;
}

export interface OverheadSettings {
  /** Of the caller, who removes it. */
  folder: string;
  databaseUrl: string;
  /** Rounds that are measured, after those that warm up: a server is not judged by its first hundred payments. */
  rounds: number;
  warm_ups: number;
  /** Payments of each protocol in a round. */
  batch: number;
}

const ANSWER = { data: { total_volume_usd: 1234.5, total_trades: 42 }, meta: { warnings: [] } };
const PROTOCOLS: BuyerProtocol[] = ['x402', 'tempo', 'solana'];

function saleOf(proof: Proof): Sale {
  const path = '/api/v1/perps/platform/stats';
  return {
    request_id: `req_${crypto.randomBytes(12).toString('base64url')}`,
    method: 'GET',
    path,
    url: `http://localhost${path}`,
    description: 'Platform-wide stats',
    media_type: 'application/json',
    amount: 10_000n,
    request_hash: crypto.createHash('sha256').update(path).digest('hex'),
    sent_hash: crypto.createHash('sha256').update(`sent ${path}`).digest('hex'),
    raw_headers: Object.entries(proof).flat(),
  };
}

const charge = (payments: Payments, proof: Proof): Promise<Outcome> =>
  payments.charge(saleOf(proof), { refuse: null, run: () => Promise.resolve(ANSWER) });

/** The corridor's own 402, signed by the stock client. */
async function proofOf(payments: Payments, sign: Sign): Promise<Proof> {
  const outcome = await charge(payments, {});
  if (outcome.kind !== 'challenge') throw new Error(`an unpaid request ended as ${outcome.kind}`);
  const headers = new Headers();
  for (const [name, value] of Object.entries(outcome.challenge.headers)) for (const one of [value].flat()) headers.append(name, one);
  return sign(new Response(JSON.stringify(outcome.challenge.x402), { status: 402, headers }));
}

async function pay(payments: Payments, proof: Proof): Promise<void> {
  const outcome = await charge(payments, proof);
  if (outcome.kind !== 'paid') throw outcome.error;
}

void serve<OverheadSettings, Record<BuyerProtocol, Sample[]>>(async ({ folder, databaseUrl, rounds, warm_ups, batch }) => {
  const rpc = new RecordedRpc();
  const [chains, keyed] = await Promise.all([startSandboxChains(folder), openKeyedPool(databaseUrl, {})]);
  const { pool, take } = timedPool(keyed);
  const settings = { realm: 'localhost', ...chains.payments, reconcile_ms: 600_000 };
  const payments = await createPayments(settings, { pool, logger: makeLogger('warn'), post: rpc.post });
  await payments.start();
  const buyer: BenchWallets = await fundedBuyer(chains, readSandboxWallets(folder));

  const measure = async (protocol: BuyerProtocol, sign: Sign): Promise<Sample[]> => {
    const proofs: Proof[] = [];
    for (let made = 0; made < batch; made += 1) proofs.push(await proofOf(payments, sign));
    const recorded = await proofOf(payments, sign);
    rpc.record();
    await pay(payments, recorded);
    const samples: Sample[] = [];
    await startProfile();
    for (const proof of proofs) {
      take();
      rpc.replay();
      const [started, used] = [performance.now(), process.cpuUsage()];
      await pay(payments, proof);
      const total = performance.now() - started;
      const { user, system } = process.cpuUsage(used);
      const { ms, statements } = take();
      // A background probe in between would be timed as well.
      if (rpc.strangers === 0) samples.push({ total, sql: ms, cpu: (user + system) / 1_000, statements, calls: rpc.calls });
    }
    await stopProfile(`overhead-${protocol}`);
    rpc.pass();
    return samples;
  };

  const ready = { x402: [], tempo: [], solana: [] } as Record<BuyerProtocol, Sample[]>;
  const signs = await Promise.all(PROTOCOLS.map((protocol) => signWith(protocol, buyer)));
  for (let round = 0; round < warm_ups + rounds; round += 1)
    for (const [index, protocol] of PROTOCOLS.entries()) {
      const samples = await measure(protocol, signs[index] as Sign);
      if (round >= warm_ups) ready[protocol].push(...samples);
    }
  return {
    ready,
    stop: async () => {
      await payments.stop();
      await Promise.all([chains.stop(), keyed.end()]);
    },
  };
});
