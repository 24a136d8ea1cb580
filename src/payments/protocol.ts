import type { IncomingHttpHeaders } from 'node:http';
import type { AppError } from '../errors';

/** What is for sale, as the corridor needs to know it. Built by the gateway for every request to a paid path. */
export interface Sale {
  request_id: string;
  method: 'GET' | 'POST';
  /** Matched path, `/api/v1/markets/trending`. */
  path: string;
  /** Absolute URL of the resource, for the buyer to read. */
  url: string;
  description: string;
  /** Exact price in micro-USDC. */
  amount: bigint;
  /** SHA-256 (hex) over method, path and canonical parameters: what a proof is bound to. */
  request_hash: string;
  headers: IncomingHttpHeaders;
  raw_headers: string[];
}

/** The work that is paid for. */
export interface Work {
  /** Why the request would be refused even if paid (bad parameters, not implemented). Told after the proof is parsed, before it is verified. */
  refuse: AppError | null;
  /**
   * Executes the query. Resolves to the answer as a JSON value (it is what is kept for collection), or throws AppError:
   * whatever it throws, nothing is charged. `payer` is the verified sender, in its chain's own spelling.
   */
  run(context: { signal: AbortSignal; payer: string }): Promise<unknown>;
}

/** A fresh invitation to pay, in every enabled protocol. */
export interface Challenge {
  /** x402 part of the body; PAYMENT-REQUIRED is its base64. Null when x402 is off. */
  x402: Record<string, unknown> | null;
  /** Response headers: PAYMENT-REQUIRED, X-PAYMENT-REQUIRED, and one WWW-Authenticate per MPP method, tempo first. */
  headers: Record<string, string | string[]>;
  expires_at: Date;
}

/** How a request to a paid path ended. The gateway writes it to the wire; the corridor never touches a response. */
export type Outcome =
  /** 402: no proof, or a proof that was refused for `error`. `headers` may carry a failure receipt. */
  | { kind: 'challenge'; error: AppError; challenge: Challenge; headers: Record<string, string> }
  /** Any other error. `charged` is 'pending' only while a broadcast payment is unresolved; then `transaction` is its id. */
  | { kind: 'refused'; error: AppError; charged: false | 'pending'; transaction: string | null; headers: Record<string, string> }
  /** 200: settled. `replayed`: a kept answer, collected again without paying. `headers` carry the receipt. */
  | { kind: 'paid'; answer: unknown; replayed: boolean; headers: Record<string, string> };

/** One way to pay, for price lists and /health. */
export interface PaymentMethod {
  protocol: 'x402' | 'mpp';
  method: 'exact' | 'tempo' | 'solana';
  network: string;
  asset: string;
  decimals: 6;
  recipient: string;
  fees_paid_by: 'client' | 'server';
}

export interface MethodHealth {
  status: 'ok' | 'down' | 'off';
  latency_ms: number | null;
  last_settlement_at: Date | null;
}

/** The corridor's face. Made by `createPayments` (charge.ts). */
export interface Payments {
  /** Runs one request through challenge, validate, claim, execute, settle. Never throws for a consumer's fault. */
  charge(sale: Sale, work: Work): Promise<Outcome>;
  methods(): PaymentMethod[];
  health(): Promise<{ x402: MethodHealth; mpp_tempo: MethodHealth; mpp_solana: MethodHealth }>;
  /** Starts reconciliation of settlements nobody heard the end of. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
