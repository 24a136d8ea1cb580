import { AppError } from '../../errors';
import type { JsonObject } from '../protocol';
import { depthOf, isObject } from './canonical-json';

const MAX_PROOF_BYTES = 16_384;
const MAX_JSON_DEPTH = 12;

/** What a buyer may add to a proof so that the same id always means the same purchase (x402 extension `payment-identifier`). */
export const PAYMENT_IDENTIFIER = {
  key: 'payment-identifier',
  declaration: {
    info: { required: false },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { required: { type: 'boolean' }, id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' } },
      required: ['required'],
    },
  },
} satisfies { key: string; declaration: JsonObject };

/** A decoded `PaymentPayload` of either version. */
export interface X402Payment {
  version: 1 | 2;
  scheme: string;
  network: string;
  /** Version 2: the offer the buyer says it accepted. */
  accepted: { amount: string; asset: string; payTo: string } | null;
  /** Our off-chain quote token, when it was echoed. */
  quote: string | null;
  /** Base64 of the wire transaction. */
  transaction: string;
  identifier: string | null;
}

/** The names under which a proof is sent: version 2's and version 1's. */
export const PROOF_HEADERS = ['PAYMENT-SIGNATURE', 'X-PAYMENT'] as const;

/** Decodes the value of a proof header (base64 or base64url JSON; the version is what the JSON says). Throws malformed_payment, which names the header. */
export function decodePayment(value: string, header: (typeof PROOF_HEADERS)[number]): X402Payment {
  try {
    return decoded(value);
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    throw new AppError('malformed_payment', { reason: error.message, details: [{ param: header, issue: error.message }] });
  }
}

function decoded(value: string): X402Payment {
  const json = parse(value);
  const version = json.x402Version;
  if (version !== 1 && version !== 2) throw new Malformed('x402Version must be 1 or 2');
  const chosen = version === 2 ? record(json.accepted, 'accepted') : json;
  const extra = version === 2 && chosen.extra !== undefined && chosen.extra !== null ? record(chosen.extra, 'accepted.extra') : {};
  const quote = extra.quote;
  return {
    version,
    scheme: text(chosen.scheme, 'scheme'),
    network: text(chosen.network, 'network'),
    accepted:
      version === 2
        ? {
            amount: text(chosen.amount, 'accepted.amount'),
            asset: text(chosen.asset, 'accepted.asset'),
            payTo: text(chosen.payTo, 'accepted.payTo'),
          }
        : null,
    quote: quote === undefined ? null : text(quote, 'accepted.extra.quote'),
    transaction: text(record(json.payload, 'payload').transaction, 'payload.transaction'),
    identifier: identifierOf(json),
  };
}

/** A `SettlementResponse`, always under both names: version 1 clients read the second. */
export function responseHeaders(response: JsonObject): Record<string, string> {
  const value = Buffer.from(JSON.stringify(response)).toString('base64');
  return { 'PAYMENT-RESPONSE': value, 'X-PAYMENT-RESPONSE': value };
}

/** `errorReason` in the words of @x402/svm where it has one. */
export function failureReason(error: AppError): string {
  if (error.code === 'payment_replayed') return 'duplicate_settlement';
  return error.context.reason ?? error.code;
}

function parse(value: string): Record<string, unknown> {
  if (value.length > MAX_PROOF_BYTES) throw new Malformed('larger than 16 KiB');
  if (!/^[A-Za-z0-9+/_-]+={0,2}$/.test(value)) throw new Malformed('not base64');
  const json = Buffer.from(value, 'base64').toString('utf8');
  if (depthOf(json) > MAX_JSON_DEPTH) throw new Malformed('nested too deeply');
  try {
    return record(JSON.parse(json), 'payment');
  } catch (error) {
    throw error instanceof Malformed ? error : new Malformed('not JSON');
  }
}

function identifierOf(json: Record<string, unknown>): string | null {
  if (typeof json.extensions !== 'object' || json.extensions === null) return null;
  const extension = (json.extensions as Record<string, unknown>)[PAYMENT_IDENTIFIER.key];
  if (typeof extension !== 'object' || extension === null) return null;
  const { info } = extension as { info?: unknown };
  const id = typeof info === 'object' && info !== null ? (info as { id?: unknown }).id : undefined;
  if (id === undefined) return null;
  if (typeof id !== 'string' || !/^[A-Za-z0-9_-]{16,128}$/.test(id))
    throw new Malformed('payment-identifier must be 16 to 128 characters of A-Z a-z 0-9 _ -');
  return id;
}

function record(value: unknown, name: string): Record<string, unknown> {
  if (!isObject(value)) throw new Malformed(`${name} must be an object`);
  return value;
}

function text(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Malformed(`${name} must be a string`);
  return value;
}

/** What is wrong with a proof, in the words the buyer reads. */
class Malformed extends Error {}
