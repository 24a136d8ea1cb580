import crypto from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connection, Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createPayments } from '../../src/payments/charge';
import type { PaymentsSettings } from '../../src/payments/config';
import type { Challenge, JsonObject, Outcome, PaymentLog, Payments, Sale, Work } from '../../src/payments/protocol';
import { type LocalSolana, startLocalSolana } from '../../src/sandbox/chains/solana';
import type { SandboxWallets } from '../../src/sandbox/wallets';
import { testDatabase } from '../support/database';
import { signTransfer, type TransferWish } from './solana-signing';

export const SECRET = 'a secret of the tests, long enough to sign';

type TestDatabase = Awaited<ReturnType<typeof testDatabase>>;

/** A corridor over a local Solana and a database of its own, with a counter for what the work did. */
export interface Till {
  payments: Payments;
  solana: LocalSolana;
  database: TestDatabase;
  merchant: Keypair;
  sponsor: Keypair;
  settings: PaymentsSettings;
  /** Everything that was logged, as JSON lines. */
  logged: string[];
  logger: PaymentLog;
  stop(): Promise<void>;
}

export interface TillOptions {
  sponsored?: boolean;
  settings?: Partial<PaymentsSettings>;
}

/** A log that remembers, for the test that no secret is in it. */
export function rememberingLog(lines: string[]): PaymentLog {
  const write = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push(JSON.stringify({ level, message, ...fields }));
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

export async function openTill({ sponsored = false, settings: overrides = {} }: TillOptions = {}): Promise<Till> {
  const [solana, database] = await Promise.all([startLocalSolana(), testDatabase()]);
  const merchant = Keypair.generate();
  const sponsor = Keypair.generate();
  await solana.fund(merchant.publicKey.toBase58(), { usdc: 0n });
  await solana.fund(sponsor.publicKey.toBase58(), { lamports: 1_000_000_000n });
  const settings: PaymentsSettings = {
    realm: 'api.example.com',
    secrets: [SECRET],
    solana: {
      rpc_urls: [solana.url],
      pay_to: merchant.publicKey.toBase58(),
      network: 'mainnet',
      mint: solana.mint,
      genesis_hash: solana.genesis_hash,
      sponsor_key: sponsored ? bs58.encode(sponsor.secretKey) : false,
    },
    ...overrides,
  };
  const logged: string[] = [];
  const logger = rememberingLog(logged);
  const payments = await createPayments(settings, { pool: database.pool, logger });
  await payments.start();
  return {
    payments,
    solana,
    database,
    merchant,
    sponsor,
    settings,
    logged,
    logger,
    stop: async () => {
      await payments.stop();
      await Promise.all([solana.stop(), database.drop()]);
    },
  };
}

export function saleOf({ headers = {}, ...overrides }: Partial<Sale> & { headers?: Record<string, string> } = {}): Sale {
  const path = overrides.path ?? '/api/v1/markets/trending';
  return {
    request_id: `req_${crypto.randomBytes(6).toString('hex')}`,
    method: 'GET',
    path,
    url: `http://localhost${path}`,
    description: 'Markets with highest recent volume',
    media_type: 'application/json',
    amount: 20_000n,
    request_hash: crypto.createHash('sha256').update(path).digest('hex'),
    sent_hash: crypto.createHash('sha256').update(`sent ${path}`).digest('hex'),
    raw_headers: Object.entries(headers).flat(),
    ...overrides,
  };
}

/** Waits until something is so. Throws when it never happens. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 2_400; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('it never happened');
}

/** Work that counts its runs. */
export function workOf(run: Work['run'] = async () => ({ data: [1, 2, 3] }), refuse: Work['refuse'] = null): Work & { runs: () => number } {
  let runs = 0;
  return {
    refuse,
    run: (context) => {
      runs += 1;
      return run(context);
    },
    runs: () => runs,
  };
}

/**
 * Charges so many times at once. Their work goes on until `others` of them were told their outcome: nobody comes too late to meet the others, however slow
 * the machine is just now.
 */
export async function chargedAtOnce<Answer>(
  times: number,
  others: number,
  answer: Answer,
  charge: (work: Work & { runs: () => number }, index: number) => Promise<Outcome>,
): Promise<{ outcomes: Outcome[]; runs: number }> {
  let told = 0;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const work = workOf(async () => {
    await ended;
    return answer;
  });
  const outcomes = await Promise.all(
    Array.from({ length: times }, async (_, index) => {
      const outcome = await charge(work, index);
      if ((told += 1) === others) end();
      return outcome;
    }),
  );
  return { outcomes, runs: work.runs() };
}

export async function fundedBuyer(till: Pick<Till, 'solana'>, usdc = 5_000_000n): Promise<Keypair> {
  const buyer = Keypair.generate();
  await till.solana.fund(buyer.publicKey.toBase58(), { lamports: 100_000_000n, usdc });
  return buyer;
}

export async function challengeOf(till: Till, sale: Sale = saleOf()): Promise<Challenge> {
  const outcome = await till.payments.charge(sale, workOf());
  if (outcome.kind !== 'challenge') throw new Error(`expected a challenge, got ${JSON.stringify(outcome)}`);
  return outcome.challenge;
}

export interface Requirement {
  amount: string;
  network: string;
  asset: string;
  payTo: string;
  extra: { memo: string; quote: string; recentBlockhash?: string; lastValidBlockHeight?: string; feePayer?: string };
}

/** The v2 requirement in PAYMENT-REQUIRED. */
export function requirementOf(challenge: Challenge): Requirement {
  const decoded = JSON.parse(Buffer.from(String(challenge.headers['PAYMENT-REQUIRED']), 'base64').toString()) as { accepts: Requirement[] };
  return decoded.accepts[0] as Requirement;
}

export interface ProofOptions {
  wish?: Partial<TransferWish>;
  version?: 1 | 2;
  identifier?: string;
  /** Last touch on the payload before it is encoded. */
  edit?: (payload: JsonObject) => unknown;
}

/** A signed proof for a challenge, as the header value of PAYMENT-SIGNATURE. */
export function proofFor(buyer: Keypair, requirement: Requirement, options: ProofOptions = {}): string {
  const { extra, amount, asset, payTo } = requirement;
  const transaction = signTransfer({
    buyer,
    mint: asset,
    pay_to: payTo,
    amount: BigInt(amount),
    blockhash: extra.recentBlockhash as string,
    memo: extra.memo,
    fee_payer: extra.feePayer,
    ...options.wish,
  });
  const { version = 2 } = options;
  const payload: JsonObject =
    version === 1
      ? { x402Version: 1, scheme: 'exact', network: 'solana', payload: { transaction } }
      : {
          x402Version: 2,
          accepted: { scheme: 'exact', maxTimeoutSeconds: 90, ...requirement } as unknown as JsonObject,
          payload: { transaction },
        };
  if (options.identifier !== undefined)
    payload.extensions = { 'payment-identifier': { info: { required: false, id: options.identifier } } };
  return Buffer.from(JSON.stringify(options.edit?.(payload) ?? payload)).toString('base64');
}

/** The proof of a client that does not echo the quote. */
export function withoutQuote(payload: JsonObject): JsonObject {
  const { extra, ...accepted } = payload.accepted as JsonObject & { extra: JsonObject };
  const { quote: _, ...echoed } = extra;
  return { ...payload, accepted: { ...accepted, extra: echoed } };
}

/** A fresh proof from a fresh challenge: the header to send. */
export async function signedHeaders(
  till: Till,
  buyer: Keypair,
  options: ProofOptions = {},
  sale: Sale = saleOf(),
): Promise<Record<string, string>> {
  for (;;) {
    const requirement = requirementOf(await challengeOf(till, sale));
    if (requirement.extra.recentBlockhash !== undefined) return { 'PAYMENT-SIGNATURE': proofFor(buyer, requirement, options) };
    // The newest blockhash was too old to be offered: this machine stood still for seconds.
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export async function broadcast(till: Till, headers: Record<string, string>): Promise<void> {
  const { payload } = JSON.parse(Buffer.from(headers['PAYMENT-SIGNATURE'] as string, 'base64').toString()) as {
    payload: { transaction: string };
  };
  const reply = await fetch(till.solana.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'sendTransaction',
      params: [payload.transaction, { encoding: 'base64', skipPreflight: true }],
    }),
  });
  expect(await reply.json()).toHaveProperty('result');
}

/** Waits until offers carry a blockhash that lives: they carry the newest sample, and after the chain's time was moved on one must be taken. */
export async function untilSampled(till: Till): Promise<void> {
  const chain = new Connection(till.solana.url);
  await until(async () => {
    const { recentBlockhash } = requirementOf(await challengeOf(till)).extra;
    return recentBlockhash !== undefined && (await chain.isBlockhashValid(recentBlockhash)).value;
  });
}

/** Short form of an outcome, for expectations. */
export function told(outcome: Outcome): string {
  if (outcome.kind === 'paid') return outcome.replayed ? '200 replayed' : '200';
  const { error } = outcome;
  return [error.status, error.code, error.context.reason].filter((part) => part !== undefined).join(' ');
}

export function walletsOf(till: Till, buyer: Keypair): SandboxWallets {
  return {
    solana: {
      rpc_url: till.solana.url,
      address: buyer.publicKey.toBase58(),
      secret_key: bs58.encode(buyer.secretKey),
      pay_to: till.merchant.publicKey.toBase58(),
    },
    tempo: null,
  };
}

/** A bare HTTP front for stock clients: the path is for sale, the answer is what the work returns. */
export async function serveTill(payments: Payments, work: () => Work): Promise<{ url: string; close(): Promise<void> }> {
  const server = http.createServer((request, response) => {
    const path = request.url ?? '/';
    const sale = saleOf({ path, url: `http://${request.headers.host}${path}`, raw_headers: request.rawHeaders });
    void payments.charge(sale, work()).then((outcome) => write(response, outcome));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(() => resolve())) };
}

function write(response: http.ServerResponse, outcome: Outcome): void {
  const body =
    outcome.kind === 'paid'
      ? outcome.answer
      : outcome.kind === 'challenge'
        ? { code: outcome.error.code, ...outcome.challenge.x402 }
        : { code: outcome.error.code, charged: outcome.charged };
  const headers = outcome.kind === 'challenge' ? { ...outcome.challenge.headers, ...outcome.headers } : outcome.headers;
  response.writeHead(outcome.kind === 'paid' ? 200 : outcome.error.status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
