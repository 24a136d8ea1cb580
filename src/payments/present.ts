import { AppError, type Problem } from '../errors';
import { headerValues } from './headers';
import type { Challenge, Credential, Offer, Protocol, Sale } from './protocol';
import { PROOF_HEADERS } from './protocols/x402-wire';

export interface Presented {
  protocol: Protocol;
  credential: Credential;
}

/** Of which schemes a request carries proofs, whatever they are worth. */
function schemesOf(rawHeaders: readonly string[]): { x402: boolean; mpp: boolean } {
  return {
    x402: PROOF_HEADERS.some((header) => headerValues(rawHeaders, header).length > 0),
    mpp: headerValues(rawHeaders, 'authorization').some((value) => /(^|,)\s*payment(\s|$)/i.test(value)),
  };
}

/** Whether a request carries anything that is to pay for it. */
export function carriesProof(rawHeaders: readonly string[]): boolean {
  const { x402, mpp } = schemesOf(rawHeaders);
  return x402 || mpp;
}

/**
 * The one proof in a request, null when it carries none. Throws ambiguous_payment for several, method_unsupported for a
 * proof that no enabled protocol takes, and what the protocol says of one that cannot be decoded.
 */
export function findPresented(protocols: readonly Protocol[], sale: Sale): Presented | null {
  const { x402, mpp } = schemesOf(sale.raw_headers);
  if (x402 && mpp) throw new AppError('ambiguous_payment');
  const found = protocols.flatMap((protocol) => {
    const credential = protocol.read(sale);
    return credential === null ? [] : [{ protocol, credential }];
  });
  if (found.length > 1) throw new AppError('ambiguous_payment');
  if (found[0] === undefined && (x402 || mpp)) throw new AppError('method_unsupported', { reason: 'method_unsupported' });
  return found[0] ?? null;
}

const KEY_FORM = /^[\x21-\x7e]{1,128}$/;

/** What is wrong with the Idempotency-Key of a request, for which it is refused once it is paid; null where it has none or a good one. */
export function keyProblemOf(rawHeaders: readonly string[]): Problem | null {
  const values = headerValues(rawHeaders, 'idempotency-key');
  if (values.length === 0 || (values.length === 1 && values.every((value) => KEY_FORM.test(value)))) return null;
  const issue = 'must be sent once, with 1 to 128 visible ASCII characters';
  return { param: 'Idempotency-Key', issue, allowed: '1 to 128 visible ASCII characters', got: values.join(', ').slice(0, 200) };
}

/** The buyer's own name for this purchase, null when it sent none. Throws invalid_parameter when it is not 1 to 128 visible characters. */
export function idempotencyKeyOf({ raw_headers }: Sale): string | null {
  const problem = keyProblemOf(raw_headers);
  if (problem !== null) throw new AppError('invalid_parameter', { details: [problem] });
  return headerValues(raw_headers, 'idempotency-key')[0] ?? null;
}

/** The MPP methods that the buyer names in Accept-Payment (`tempo/charge, solana/charge;q=0.5`), best first; null where it names none of these, or takes any. */
function namedMethods(protocols: readonly Protocol[], sale: Sale): Protocol[] | null {
  const ranges = headerValues(sale.raw_headers, 'accept-payment').flatMap((value) => value.toLowerCase().split(','));
  const weights = new Map(
    ranges.map((range) => {
      const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
      const weight = parameters.find((parameter) => parameter.startsWith('q='));
      return [name, weight === undefined ? 1 : Number(weight.slice(2))];
    }),
  );
  const weightOf = (protocol: Protocol): number => {
    const method = protocol.method();
    return method.protocol === 'mpp' ? (weights.get(`${method.method}/charge`) ?? 0) : 0;
  };
  const named = protocols.filter((protocol) => weightOf(protocol) > 0).sort((a, b) => weightOf(b) - weightOf(a));
  return named.length === 0 || ranges.some((range) => range.includes('*')) ? null : named;
}

/**
 * Offers of every enabled protocol as one 402: x402 in headers and body, one WWW-Authenticate field per MPP method in the order of `protocols`. A buyer
 * that names MPP methods gets challenges of these alone, and no headers of x402, of which mppx 0.6 and 0.7 cannot read those for Solana.
 */
export async function challengeOf(protocols: readonly Protocol[], sale: Sale, error: AppError): Promise<Challenge> {
  const named = namedMethods(protocols, sale);
  const offering = named === null ? protocols : [...protocols.filter((protocol) => protocol.method().protocol === 'x402'), ...named];
  const offers = await Promise.all(offering.map((protocol) => protocol.offer(sale, error)));
  const headers: Record<string, string | string[]> = {};
  const challenges = offers.flatMap(({ www_authenticate }) => (www_authenticate === null ? [] : [www_authenticate]));
  if (challenges.length > 0) headers['WWW-Authenticate'] = challenges;
  const x402 = offers.find((offer): offer is Offer & { x402: NonNullable<Offer['x402']> } => offer.x402 !== null)?.x402;
  if (x402 !== undefined && named === null) {
    const encoded = Buffer.from(JSON.stringify(x402.required)).toString('base64');
    headers['PAYMENT-REQUIRED'] = encoded;
    headers['X-PAYMENT-REQUIRED'] = encoded;
  }
  return { x402: x402?.body ?? null, headers, expires_at: new Date(Math.min(...offers.map(({ expires_at }) => expires_at.getTime()))) };
}
