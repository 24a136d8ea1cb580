import crypto from 'node:crypto';
import type { Pool } from 'pg';
import type { PostJson } from '../chains/json-rpc';
import { RPC_DEFAULTS } from '../chains/rpc';
import { SolanaChain } from '../chains/solana';
import { TempoChain } from '../chains/tempo';
import { isBase58Address } from '../lib/address';
import { inTime } from '../lib/deadline';
import { Availability } from './availability';
import { Corridor } from './corridor';
import { PAYMENT_DEFAULTS, type PaymentsConfig, type PaymentsSettings } from './config';
import { Ledger } from './ledger';
import type { MethodHealth, PaymentFigures, PaymentLog, Payments, Protocol, ProtocolName } from './protocol';
import { MppSolana } from './protocols/mpp-solana';
import { MppTempo } from './protocols/mpp-tempo';
import { SolanaSettlement } from './protocols/solana-settlement';
import { X402 } from './protocols/x402';
import { Rechallenge } from './rechallenge';
import { Reconciler } from './reconcile';
import { Upkeep } from './upkeep';

export interface PaymentsDeps {
  /** Migrations are applied. */
  pool: Pool;
  /** Over which the process reports that it lives, which must not wait while all connections of `pool` are busy; that one by default. */
  heart?: Pool;
  logger: PaymentLog;
  /** Nobody by default. */
  figures?: PaymentFigures;
  /** How chains are asked; over HTTP by default. */
  post?: PostJson | undefined;
}

const MIN_SECRET_BYTES = 32;
const UNCOUNTED: PaymentFigures = { payment: () => undefined, unresolved: () => undefined, sponsor: () => undefined };
/** How long a question about health waits for the ledger. */
const LEDGER_LOOK_MS = 3_000;
/** How long a process that stops waits for the ledger. */
const LAST_WORDS_MS = 10_000;

/**
 * Builds the corridor with every protocol that is configured. It takes payments at once; `start` checks the chains and
 * begins to reconcile. Throws one clear sentence when the configuration cannot be right.
 */
export async function createPayments(
  settings: PaymentsSettings,
  { pool, heart = pool, logger, figures = UNCOUNTED, post }: PaymentsDeps,
): Promise<Payments> {
  const config: PaymentsConfig = { ...PAYMENT_DEFAULTS, ...settings };
  checkConfig(config);
  const instance = crypto.randomUUID();
  const protocols = protocolsOf(config, logger, figures, post);
  const ledger = new Ledger(pool, instance, logger);
  const upkeep = new Upkeep(pool, instance, heart);
  const rechallenge = new Rechallenge(pool, config);
  const availability = new Availability(protocols, logger);
  const corridor = new Corridor({ config, protocols, offered: () => availability.offered(), ledger, rechallenge, log: logger, figures });
  const reconciler = new Reconciler(
    config,
    new Map(protocols.map((protocol) => [protocol.name, protocol])),
    ledger,
    upkeep,
    rechallenge,
    logger,
    figures,
  );
  const running = new Set<Promise<unknown>>();
  // From the first moment: a process that does not report is taken for dead.
  await upkeep.beat();
  const beats = setInterval(() => void upkeep.beat().catch(() => undefined), config.instance_stale_ms / 4).unref();
  const lastWords = async (): Promise<void> => {
    await Promise.all([ledger.flush(), reconciler.stop(), ...protocols.map((protocol) => protocol.stop())]);
    await ledger.catchUp();
    await upkeep.leave();
  };
  return {
    charge: (sale, work) => {
      const outcome = corridor.charge(sale, work).finally(() => running.delete(outcome));
      running.add(outcome);
      return outcome;
    },
    methods: () => protocols.map((protocol) => protocol.method()),
    health: () => healthOf(protocols, ledger, availability),
    reconcile: (which) => (which === 'all' ? reconciler.all() : reconciler.pass()),
    start: async () => {
      for (const protocol of protocols) await protocol.start();
      availability.start();
      await reconciler.start();
    },
    stop: async () => {
      await Promise.allSettled(running);
      availability.stop();
      clearInterval(beats);
      // What the database does not hear is found out by others, as of a process that was killed.
      await inTime(LAST_WORDS_MS, lastWords).catch((error: Error) =>
        logger.warn({ error: error.message }, 'the ledger did not hear the end'),
      );
    },
  };
}

function checkConfig({ secrets, solana }: PaymentsConfig): void {
  if (secrets.length === 0 || secrets.some((secret) => Buffer.byteLength(secret) < MIN_SECRET_BYTES)) {
    throw new Error(`Payments need a secret of at least ${MIN_SECRET_BYTES} bytes (PAYMENT_SECRET).`);
  }
  if (solana === false) return;
  if (!isBase58Address(solana.pay_to)) throw new Error(`PAY_TO_SOLANA must be a Solana address, not ${solana.pay_to}.`);
  if (!isBase58Address(solana.mint)) throw new Error(`The USDC mint ${solana.mint} is not a Solana address.`);
}

function protocolsOf(config: PaymentsConfig, log: PaymentLog, figures: PaymentFigures, post: PostJson | undefined): Protocol[] {
  const tempo =
    config.tempo === false
      ? []
      : [new MppTempo(config, config.tempo, log, new TempoChain({ ...config.tempo, try_ms: config.rpc_ms, post }))];
  if (config.solana === false) return tempo;
  const settlement = new SolanaSettlement(
    config.solana,
    new SolanaChain(config.solana.rpc_urls, { ...RPC_DEFAULTS, try_ms: config.rpc_ms, post }),
    log,
    figures,
  );
  // Tempo before Solana: common clients read the first challenge only.
  return [new X402(config, config.solana, settlement), ...tempo, new MppSolana(config, config.solana, settlement)];
}

async function healthOf(
  protocols: readonly Protocol[],
  ledger: Ledger,
  availability: Availability,
): Promise<Record<ProtocolName, MethodHealth>> {
  // The chains are worth a word even while the database is not.
  const newest = await inTime(LEDGER_LOOK_MS, () => ledger.lastSettlements()).catch(() => new Map<ProtocolName, Date>());
  const one = async (name: ProtocolName): Promise<MethodHealth> => {
    const protocol = protocols.find((candidate) => candidate.name === name);
    const last_settlement_at = newest.get(name) ?? null;
    if (protocol === undefined) return { status: 'off', latency_ms: null, last_settlement_at };
    const latency_ms = await availability.latency(protocol);
    return { status: latency_ms === null || ledger.isUnwritable ? 'down' : 'ok', latency_ms, last_settlement_at };
  };
  const [x402, mpp_tempo, mpp_solana] = await Promise.all([one('x402'), one('mpp_tempo'), one('mpp_solana')]);
  return { x402, mpp_tempo, mpp_solana };
}
