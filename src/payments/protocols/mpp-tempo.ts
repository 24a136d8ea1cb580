import { getAddress, isAddress } from 'viem';
import { TempoChain, TempoWrongChain } from '../../chains/tempo';
import type { TempoPaymentConfig } from '../config';
import type {
  Credential,
  JsonObject,
  Marks,
  Offer,
  PaymentLog,
  PaymentMethod,
  PaymentRecord,
  Protocol,
  Sale,
  ValidProof,
} from '../protocol';
import {
  type MppSettings,
  type PulledPayment,
  assertMppSettings,
  challengeKey,
  checkChallenge,
  issueChallenge,
  readPulled,
  receiptHeader,
} from './mpp';
import { TempoSettlement } from './tempo-settlement';
import { claimKeysOf, claimKeysOfRaw, turnOf, verifyTempoTransfer } from './tempo-transfer';

/** Tempo is set up in a way that cannot work, whatever is tried again. */
export class TempoMisconfigured extends Error {}

/** MPP `tempo`, intent `charge`, pull mode only: the buyer signs a transfer of USDC.e and pays its network fee, we broadcast. */
export class MppTempo implements Protocol {
  readonly name = 'mpp_tempo';
  readonly settlement: TempoSettlement;

  /** Throws on settings that cannot work: short secrets, a realm that cannot be quoted, addresses that are none. */
  constructor(
    private readonly mpp: MppSettings,
    private readonly tempo: TempoPaymentConfig,
    private readonly log: PaymentLog,
    private readonly chain: TempoChain = new TempoChain(tempo),
  ) {
    assertMppSettings(mpp);
    for (const [name, address] of Object.entries({ 'The USDC token': tempo.usdc, PAY_TO_TEMPO: tempo.pay_to }))
      if (!isAddress(address, { strict: false })) throw new TempoMisconfigured(`${name} must be a Tempo address, not ${address}.`);
    this.settlement = new TempoSettlement(chain, log);
  }

  method(): PaymentMethod {
    const { chain_id, usdc, pay_to } = this.tempo;
    return {
      protocol: 'mpp',
      method: 'tempo',
      network: `eip155:${chain_id}`,
      asset: getAddress(usdc),
      decimals: 6,
      recipient: getAddress(pay_to),
      fees_paid_by: 'client',
    };
  }

  async offer(sale: Sale): Promise<Offer> {
    const request = { ...this.request(), amount: sale.amount.toString(), externalId: sale.request_id };
    const { header, expires_at } = issueChallenge(this.mpp, sale, { method: 'tempo', request, now: new Date() });
    return { www_authenticate: header, x402: null, expires_at };
  }

  read(sale: Sale): Credential | null {
    return readPulled(sale, 'tempo', 'signature', ['hash', 'proof']);
  }

  async validate(credential: Credential, sale: Sale): Promise<ValidProof> {
    const { challenge: echoed, transaction: raw, source } = credential.payload as PulledPayment;
    const challenge = checkChallenge(this.mpp, echoed, sale, { method: 'tempo', request: this.request() });
    const terms = { chain_id: this.tempo.chain_id, token: this.tempo.usdc.toLowerCase(), recipient: this.tempo.pay_to.toLowerCase() };
    const transfer = verifyTempoTransfer(raw, {
      ...terms,
      amount: challenge.amount,
      realm: this.mpp.realm,
      challenge_id: challenge.id,
      source,
    });
    // Anybody can sign for any account with a key of his own: only the chain knows which keys speak for the payer.
    if (transfer.access_key !== null) await this.settlement.assertAccessKey(transfer.sender, transfer.access_key, terms.token);
    const keys = claimKeysOf(transfer);
    return {
      protocol: this.name,
      payer: transfer.sender,
      amount: challenge.amount,
      proof_key: keys.payment,
      claim_keys: [challengeKey(challenge), keys.bytes],
      secrets: [challengeKey(challenge)],
      buyer_keys: [],
      turn: turnOf(transfer),
      transaction: transfer.hash,
      offer_expires_at: challenge.expires_at,
      raw: raw.toLowerCase(),
      details: { ...this.settlement.detailsOf(transfer, terms), external_id: challenge.request.externalId ?? null },
    };
  }

  marksOf(credential: Credential): Marks {
    const { challenge, transaction } = credential.payload as PulledPayment;
    return { proof_key: claimKeysOfRaw(transaction).payment, secrets: [challengeKey(challenge)], buyer_keys: [] };
  }

  receipt(record: PaymentRecord, at: Date): Record<string, string> {
    const { external_id } = record.details;
    return receiptHeader({
      method: 'tempo',
      reference: record.transaction,
      at,
      ...(typeof external_id === 'string' ? { external_id } : {}),
    });
  }

  /** MPP tells failures by status and problem type; a receipt exists on success only. */
  failureReceipt(): Record<string, string> {
    return {};
  }

  async probe(signal: AbortSignal): Promise<{ latency_ms: number }> {
    const asked = Date.now();
    const [obstacle] = await Promise.all([
      this.chain.canReceive(this.tempo.usdc, this.tempo.pay_to, signal),
      this.settlement.watchClock(signal),
    ]);
    if (obstacle !== null) throw new TempoMisconfigured(`${this.tempo.pay_to} cannot receive ${this.tempo.usdc} on Tempo: ${obstacle}.`);
    return { latency_ms: Date.now() - asked };
  }

  async start(): Promise<void> {
    const signal = AbortSignal.timeout(10_000);
    try {
      await this.chain.check(signal);
      await this.probe(signal);
    } catch (error) {
      if (error instanceof TempoMisconfigured || error instanceof TempoWrongChain) throw error;
      this.log.warn({ error: (error as Error).message }, 'Tempo cannot be reached; payments over it are refused until it can');
    }
  }

  async stop(): Promise<void> {}

  /** The request object of every offer, without what differs per offer. */
  private request(): JsonObject {
    return {
      currency: getAddress(this.tempo.usdc),
      recipient: getAddress(this.tempo.pay_to),
      methodDetails: { chainId: this.tempo.chain_id, supportedModes: ['pull'] },
    };
  }
}
