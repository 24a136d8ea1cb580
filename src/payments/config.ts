/** What the Solana protocols need. */
export interface SolanaPaymentConfig {
  /** At least one; every one is asked in turn when the one before fails, broadcasts go to all. */
  rpc_urls: string[];
  /** Merchant wallet (owner, not its token account), base58. */
  pay_to: string;
  /** Name of the network in offers. */
  network: 'mainnet' | 'devnet';
  /** USDC mint, base58. */
  mint: string;
  /** Refuse to start when the chain says otherwise; null skips the check (local chains). */
  genesis_hash: string | null;
  /** Secret key (base58, 64 bytes) of the wallet that pays network fees for x402 buyers; false: buyers pay. */
  sponsor_key: string | false;
}

/** What MPP `tempo` needs. */
export interface TempoPaymentConfig {
  rpc_urls: string[];
  /** Merchant address, 0x hex. */
  pay_to: string;
  chain_id: number;
  /** USDC.e token, 0x hex. */
  usdc: string;
}

/** How the corridor is run. Times in milliseconds, money in micro-USDC. */
export interface PaymentsConfig {
  /** MPP protection space: the public host name. */
  realm: string;
  /** HMAC secrets of at least 32 bytes: the first signs, all verify. */
  secrets: string[];
  /** x402 part of the 402 body: 'v2' suits v2 and hand-written readers, 'v1' strict v1 clients. The header is always v2. */
  body_mode: 'v2' | 'v1';
  solana: false | SolanaPaymentConfig;
  tempo: false | TempoPaymentConfig;
  /** Longest the work may run. */
  deadline_ms: number;
  /** Longest the chain checks of an admission may take. */
  admission_ms: number;
  /** Longest one provider may take for one answer. */
  rpc_ms: number;
  /** Longest a buyer waits for confirmation after the broadcast. */
  settle_patience_ms: number;
  /** How long an offer is honoured. */
  offer_ms: number;
  /** Leniency about the end of an offer: the processes of one service need not agree on the time to the second. */
  clock_skew_ms: number;
  /** How long a served answer can be collected again. */
  kept_answer_ms: number;
  /** How long an answer waits for a fresh proof when its proof ran out while the query ran. */
  rechallenge_ms: number;
  /** Answers larger than this cannot be kept and are not sold. */
  kept_answer_max_bytes: number;
  /** Answers waiting for a fresh proof, per payer. */
  rechallenge_max: number;
  /** Most a payer may have reserved at once. */
  payer_reserved_cap: bigint;
  /** Settlements a payer may let fail within `payer_failure_window_ms` before it is turned away. */
  payer_failures: number;
  payer_failure_window_ms: number;
  /** Payments of one payer that may wait for the chain's word before nothing more is run for it: what is never mined is never paid. */
  payer_undecided: number;
  /** How often unresolved settlements are looked up. */
  reconcile_ms: number;
  /** A process that has not reported for this long is dead and its reservations are released. */
  instance_stale_ms: number;
}

/** Defaults of everything an operator seldom sets. */
export const PAYMENT_DEFAULTS = {
  body_mode: 'v2',
  solana: false,
  tempo: false,
  deadline_ms: 60_000,
  admission_ms: 5_000,
  rpc_ms: 2_000,
  settle_patience_ms: 30_000,
  offer_ms: 300_000,
  clock_skew_ms: 5_000,
  kept_answer_ms: 600_000,
  rechallenge_ms: 120_000,
  kept_answer_max_bytes: 33_554_432,
  rechallenge_max: 3,
  payer_reserved_cap: 10_000_000n,
  payer_failures: 3,
  payer_failure_window_ms: 600_000,
  payer_undecided: 10,
  reconcile_ms: 5_000,
  instance_stale_ms: 10_000,
} as const satisfies Partial<PaymentsConfig>;

/** What must be said; the rest has defaults. */
export type PaymentsSettings = Pick<PaymentsConfig, 'realm' | 'secrets'> & Partial<PaymentsConfig>;
