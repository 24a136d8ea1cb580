import { AppError } from '../../errors';
import { headerValues } from '../headers';
import type { JsonObject } from '../protocol';
import { decodeJson, encodeJson, isObject } from './canonical-json';

/** A challenge as the client sent it back: every value a string, nothing in it believed. */
export interface EchoedChallenge {
  id: string;
  realm: string;
  method: string;
  intent: string;
  request: string;
  expires?: string;
  digest?: string;
  opaque?: string;
}

export interface MppCredential {
  challenge: EchoedChallenge;
  payload: JsonObject;
  /** Who the client says pays (`did:pkh:…`); untrusted. */
  source?: string;
}

const MAX_CREDENTIAL_CHARS = 16_384;

/** The token68 parts of every `Payment` credential. */
export function paymentCredentials(rawHeaders: readonly string[]): string[] {
  return headerValues(rawHeaders, 'authorization')
    .flatMap((value) => value.split(','))
    .map((part) => part.trim())
    .filter((part) => /^payment(?:\s|$)/i.test(part))
    .map((part) => part.slice('payment'.length).trim());
}

/** Decodes what follows the scheme name: base64url JSON, at most 16 KiB and 8 levels. Throws malformed_credential with a reason. */
export function decodeCredential(encoded: string): MppCredential {
  if (encoded.length > MAX_CREDENTIAL_CHARS) throw malformed('too_large');
  const { challenge, payload, source } = decodedPart(encoded);
  if (!isObject(challenge)) throw malformed('challenge');
  if (!isObject(payload)) throw malformed('payload');
  if (source !== undefined && source !== null && typeof source !== 'string') throw malformed('source');
  return { challenge: echoedChallenge(challenge), payload, ...(typeof source === 'string' ? { source } : {}) };
}

function echoedChallenge(raw: JsonObject): EchoedChallenge {
  const text = (name: string): string => {
    const value = raw[name];
    if (typeof value !== 'string' || value === '') throw malformed(`challenge.${name}`);
    return value;
  };
  const optional = (name: 'expires' | 'digest' | 'opaque') => (raw[name] === undefined || raw[name] === null ? {} : { [name]: text(name) });
  // Older mppx clients send `opaque` expanded.
  const opaque = isObject(raw.opaque) ? { opaque: encodeJson(raw.opaque) } : optional('opaque');
  return {
    id: text('id'),
    realm: text('realm'),
    method: text('method'),
    intent: text('intent'),
    request: text('request'),
    ...optional('expires'),
    ...optional('digest'),
    ...opaque,
  };
}

function decodedPart(encoded: string): JsonObject {
  try {
    return decodeJson(encoded);
  } catch (error) {
    throw malformed((error as Error).message);
  }
}

/** A credential that cannot be read; `reason` is the part of it, or the step, that failed. */
export function malformed(reason: string): AppError {
  return new AppError('malformed_credential', { reason, details: [{ param: 'Authorization', issue: `cannot be decoded: ${reason}` }] });
}
