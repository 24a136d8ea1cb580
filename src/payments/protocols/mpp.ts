import { createHmac, randomBytes } from 'node:crypto';
import { AppError, type ErrorCode } from '../../errors';
import type { PaymentsConfig } from '../config';
import type { Credential, JsonObject, Sale } from '../protocol';
import { equal } from '../quote-token';
import { canonicalJson, decodeJson, encodeJson, isObject } from './canonical-json';
import { type EchoedChallenge, type MppCredential, decodeCredential, malformed, paymentCredentials } from './mpp-wire';

/** Payment methods sold over the `Payment` HTTP authentication scheme (draft-httpauth-payment-00). */
export type MppMethod = 'tempo' | 'solana';
export type MppSettings = Pick<PaymentsConfig, 'realm' | 'secrets' | 'offer_ms'>;

/** A challenge proved to be ours and for this sale. */
export interface BoundChallenge {
  id: string;
  request: JsonObject;
  /** Quoted price in micro-USDC, honoured until `expires_at` even if the price list has changed. */
  amount: bigint;
  expires_at: Date;
}

const METHODS: readonly string[] = ['tempo', 'solana'] satisfies MppMethod[];
const INTENT = 'charge';

/** Throws when the settings could not protect a challenge: a secret under 32 bytes, none at all, a realm that cannot be quoted. */
export function assertMppSettings(settings: MppSettings): void {
  if (settings.secrets.length === 0) throw new Error('MPP needs a secret');
  for (const secret of settings.secrets) if (Buffer.byteLength(secret) < 32) throw new Error('An MPP secret must have at least 32 bytes');
  if (!/^[\x21-\x7e]+$/.test(settings.realm) || /["\\,|]/.test(settings.realm)) throw new Error('The MPP realm must be a plain host name');
}

/** Challenge id (draft 5.1.3): HMAC-SHA256 over seven fixed slots joined by `|`, absent ones empty; base64url without padding. */
export function challengeId(secret: string, challenge: Omit<EchoedChallenge, 'id'>): string {
  const { realm, method, intent, request, expires = '', digest = '', opaque = '' } = challenge;
  return createHmac('sha256', secret).update([realm, method, intent, request, expires, digest, opaque].join('|')).digest('base64url');
}

/**
 * A fresh challenge bound to the sale: `header` is the value of one WWW-Authenticate field, `id` its HMAC under the first
 * secret. `request` is the method's request object. Never the same twice.
 */
export function issueChallenge(
  settings: MppSettings,
  sale: Sale,
  offer: { method: MppMethod; request: JsonObject; now: Date },
): { header: string; id: string; expires_at: Date } {
  const expires_at = new Date(offer.now.getTime() + settings.offer_ms);
  const challenge = {
    realm: settings.realm,
    method: offer.method,
    intent: INTENT,
    request: encodeJson(offer.request),
    expires: expires_at.toISOString(),
    opaque: encodeJson({ ...saleBinding(sale), n: randomBytes(9).toString('base64url') }),
  };
  const id = challengeId(settings.secrets[0] as string, challenge);
  const { realm, method, intent, request, expires, opaque } = challenge;
  const params = { id, realm, method, intent, request, description: plainText(sale.description), expires, opaque };
  return {
    id,
    expires_at,
    header: `Payment ${Object.entries(params)
      .map(([name, value]) => `${name}="${value}"`)
      .join(', ')}`,
  };
}

/** The key by which a challenge is claimed, and its answer collected by whoever was told it. */
export const challengeKey = ({ id }: { id: string }): string => `ch:${id}`;

/**
 * The Payment credential in the request's Authorization fields when it is for `method`, else null. Throws ambiguous_payment
 * for several, malformed_credential for one that cannot be decoded, method_unsupported for a method or intent nobody sells.
 */
export function readCredential(sale: Pick<Sale, 'raw_headers'>, method: MppMethod): MppCredential | null {
  const [found, ...others] = paymentCredentials(sale.raw_headers);
  if (found === undefined) return null;
  if (others.length > 0) throw new AppError('ambiguous_payment');
  const credential = decodeCredential(found);
  if (!METHODS.includes(credential.challenge.method)) throw unsupported(`method "${printable(credential.challenge.method)}"`);
  if (credential.challenge.method !== method) return null;
  if (credential.challenge.intent !== INTENT) throw unsupported(`intent "${printable(credential.challenge.intent)}"`);
  return credential;
}

/** A payment that its buyer signed and we broadcast (pull mode), as it was sent. */
export interface PulledPayment extends Omit<MppCredential, 'payload'> {
  /** In the method's own text form. */
  transaction: string;
}

/**
 * The same of a payment that we broadcast: its payload is of the type `transaction` and holds it in `field`. Throws method_unsupported as well for
 * the `others`, types of payments that were made before anybody knew whether there is an answer, or that hide what they pay.
 */
export function readPulled(sale: Sale, method: MppMethod, field: string, others: readonly string[]): Credential | null {
  const credential = readCredential(sale, method);
  if (credential === null) return null;
  const { challenge, payload, source } = credential;
  const { type, [field]: transaction } = payload;
  if (others.includes(type as string))
    throw new AppError('method_unsupported', {
      reason: 'mode_unsupported',
      message: 'Send the signed transaction; a payment that was already broadcast is not accepted.',
    });
  if (type !== 'transaction' || typeof transaction !== 'string') throw malformed('payload');
  return { payload: { challenge, source, transaction } satisfies PulledPayment };
}

/**
 * Proves that the challenge is ours (HMAC under any secret, constant time) and made for this sale. `expected` is the
 * request object we would issue now; its price and the fields that differ per challenge are covered by the HMAC instead.
 * Does not judge `expires`. Throws verification_failed (reason `invalid_challenge`) or payment_insufficient.
 */
export function checkChallenge(
  settings: MppSettings,
  challenge: EchoedChallenge,
  sale: Sale,
  expected: { method: MppMethod; request: JsonObject },
): BoundChallenge {
  const ours = challenge.realm === settings.realm && challenge.method === expected.method && challenge.intent === INTENT;
  if (!ours || !isSignedByUs(settings, challenge)) throw invalidChallenge('The challenge was not issued by this server.');
  const request = decodeJson(challenge.request);
  const bound = decodeJson(challenge.opaque ?? '');
  const amount = BigInt(request.amount as string);
  const { ep, rq } = saleBinding(sale);
  if (bound.ep !== ep || bound.rq !== rq) {
    if (amount < sale.amount)
      throw new AppError('payment_insufficient', { reason: 'other_request', message: 'The challenge was issued for a cheaper request.' });
    throw invalidChallenge('The challenge was issued for another request.');
  }
  if (canonicalJson(stableRequest(request)) !== canonicalJson(stableRequest(expected.request)))
    throw invalidChallenge('The challenge asks for a payment this server no longer takes.');
  return { id: challenge.id, request, amount, expires_at: new Date(challenge.expires as string) };
}

/** The Payment-Receipt header (2xx answers only). `reference` is the transaction id on the method's chain. */
export function receiptHeader(receipt: {
  method: MppMethod;
  reference: string;
  at: Date;
  challenge_id?: string;
  external_id?: string;
}): Record<string, string> {
  const { method, reference, at, challenge_id: challengeId, external_id: externalId } = receipt;
  const fields: Record<string, string | undefined> = {
    method,
    reference,
    status: 'success',
    timestamp: at.toISOString(),
    challengeId,
    externalId,
  };
  return { 'Payment-Receipt': Buffer.from(JSON.stringify(fields)).toString('base64url') };
}

const PROBLEMS: Partial<Record<ErrorCode, string>> = {
  payment_required: 'payment-required',
  malformed_credential: 'malformed-credential',
  verification_failed: 'verification-failed',
  settlement_failed: 'verification-failed',
  payment_replayed: 'invalid-challenge',
  payment_expired: 'payment-expired',
  payment_insufficient: 'payment-insufficient',
  method_unsupported: 'method-unsupported',
  ambiguous_payment: 'bad-request',
  malformed_payment: 'bad-request',
};

/** RFC 9457 members of a payment error, `type` under https://paymentauth.org/problems/; null for any other. */
export function problemOf(error: AppError): { type: string; title: string; status: number; detail: string } | null {
  const slug = error.context.reason === 'invalid_challenge' ? 'invalid-challenge' : PROBLEMS[error.code];
  if (slug === undefined) return null;
  const title = slug
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ');
  return { type: `https://paymentauth.org/problems/${slug}`, title, status: error.status, detail: error.message };
}

/** A verification_failed that tells MPP clients `invalid-challenge`. */
function invalidChallenge(message: string): AppError {
  return new AppError('verification_failed', { reason: 'invalid_challenge', message });
}

function saleBinding(sale: Sale): { ep: string; rq: string } {
  return { ep: `${sale.method} ${sale.path}`, rq: sale.request_hash };
}

function isSignedByUs(settings: MppSettings, challenge: EchoedChallenge): boolean {
  // No early exit: the time must not tell which secret signed.
  return settings.secrets.filter((secret) => equal(challengeId(secret, challenge), challenge.id)).length > 0;
}

/** What must not change between challenge and proof: all but the quoted price and the fields that are new in every challenge. */
function stableRequest(request: JsonObject): JsonObject {
  const { amount: _amount, externalId: _externalId, methodDetails, ...rest } = request;
  if (!isObject(methodDetails)) return rest;
  const { recentBlockhash: _recentBlockhash, ...details } = methodDetails;
  return { ...rest, methodDetails: details };
}

/** Text that every challenge parser in the wild survives: no quotes, backslashes, controls, nor what looks like the next challenge. */
function plainText(text: string): string {
  return text
    .replace(/"/g, "'")
    .replace(/\\/g, '/')
    .replace(/[^\x20-\x7e]/g, ' ')
    .replace(/,(?=\s*payment\s)/gi, ';');
}

function printable(text: string): string {
  return plainText(text).slice(0, 32);
}

function unsupported(what: string): AppError {
  return new AppError('method_unsupported', { message: `The payment ${what} is not accepted.`, reason: 'method_unsupported' });
}
