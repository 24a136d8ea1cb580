import { Address, Hex, PublicKey, Rlp, TxEnvelopeEip1559 } from 'ox';
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import { recover as recoverPublicKey } from 'tiny-secp256k1';
import { type HexText, keccak256 } from './keccak';

/** A signed transaction as its bytes say, its sender proved by the signature. Addresses and hex in lower case. */
export interface SignedEnvelope {
  kind: 'tempo' | 'eip1559';
  /** keccak256 of the signed bytes: the transaction id. */
  hash: HexText;
  /** keccak256 of what was signed: the same for every signature over the same payment. */
  sign_payload: HexText;
  sender: HexText;
  /** Address of the access key that signed for the sender; null when the sender's own key signed. */
  access_key: HexText | null;
  chain_id: number;
  calls: { to: HexText | null; value: bigint; data: HexText }[];
  /** Names of the parts that no plain transfer needs: access list, authorisations, fee payer signature. */
  extras: string[];
  nonce_key: bigint;
  nonce: bigint;
  /** Unix seconds; the transaction can only be included before (after) them. */
  valid_before: number | null;
  valid_after: number | null;
  gas: bigint;
  max_fee_per_gas: bigint;
  fee_token: HexText | null;
}

export type EnvelopeFault =
  | 'too_large'
  | 'encoding'
  | 'sponsored_transaction'
  | 'transaction_type'
  | 'undecodable'
  | 'not_canonical'
  | 'signature_missing'
  | 'signature_kind'
  | 'signature_high_s'
  | 'signature_invalid';

/** Why bytes are not a signed transaction we can judge. */
export class EnvelopeError extends Error {
  constructor(readonly fault: EnvelopeFault) {
    super(fault);
    this.name = 'EnvelopeError';
  }
}

const MAX_BYTES = 8_192;
/** WebAuthn signatures are at most 2,049 bytes (Tempo transaction specification); an access key puts 21 bytes before. */
const MAX_SIGNATURE_BYTES = 2_070;
/** Half the order of secp256k1 and of P-256: a larger `s` is the second spelling of the same signature. */
const HALF_ORDER = {
  secp256k1: 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n,
  p256: 0x7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8n,
};

/**
 * Decodes a signed Tempo (0x76) or EIP-1559 (0x02) transaction and proves who signed it: secp256k1, P256, WebAuthn, or an
 * access key (keychain, version 2) for the account it names. Only the canonical encoding is taken. Throws EnvelopeError.
 */
export function decodeEnvelope(sent: string): SignedEnvelope {
  if (sent.length > 2 + 2 * MAX_BYTES) throw new EnvelopeError('too_large');
  if (!/^0x(?:[0-9a-f]{2})+$/i.test(sent)) throw new EnvelopeError('encoding');
  const raw = sent.toLowerCase() as HexText;
  const type = raw.slice(0, 4);
  if (type === TxEnvelopeTempo.feePayerMagic) throw new EnvelopeError('sponsored_transaction');
  if (type === TxEnvelopeTempo.serializedType) return decodeTempo(raw as TxEnvelopeTempo.Serialized);
  if (type === TxEnvelopeEip1559.serializedType) return decodeEip1559(raw as TxEnvelopeEip1559.Serialized);
  throw new EnvelopeError('transaction_type');
}

function decodeTempo(raw: TxEnvelopeTempo.Serialized): SignedEnvelope {
  const envelope = attempt('undecodable', () => deserializeTempo(raw));
  const canonical = attempt('undecodable', () => TxEnvelopeTempo.serialize(envelope));
  if (canonical !== raw) throw new EnvelopeError('not_canonical');
  if (envelope.signature === undefined) throw new EnvelopeError('signature_missing');
  const sign_payload = keccak256(bytesOf(TxEnvelopeTempo.encodeForSigning(envelope)));
  const { feeToken } = envelope;
  return {
    kind: 'tempo',
    hash: keccak256(bytesOf(raw)),
    sign_payload,
    ...authenticate(sign_payload, envelope.signature, (account) => TxEnvelopeTempo.getSignPayload(envelope, { from: account })),
    chain_id: envelope.chainId,
    calls: envelope.calls.map((call) => ({
      to: (call.to as HexText | undefined) ?? null,
      value: call.value ?? 0n,
      data: call.data ?? '0x',
    })),
    extras: presentOf({
      access_list: envelope.accessList,
      authorization_list: envelope.authorizationList,
      key_authorization: envelope.keyAuthorization,
      // null is the mark of a transaction that waits for a sponsor.
      fee_payer_signature: envelope.feePayerSignature,
    }),
    nonce_key: envelope.nonceKey ?? 0n,
    nonce: envelope.nonce ?? 0n,
    valid_before: envelope.validBefore ?? null,
    valid_after: envelope.validAfter ?? null,
    gas: envelope.gas ?? 0n,
    max_fee_per_gas: envelope.maxFeePerGas ?? 0n,
    fee_token: (feeToken as HexText | undefined) ?? null,
  };
}

/** The signature is taken off first: the library would recover the sender in JavaScript, at the price of all the rest together. */
function deserializeTempo(raw: TxEnvelopeTempo.Serialized): TxEnvelopeTempo.TxEnvelopeTempo {
  const fields = Rlp.toHex(`0x${raw.slice(4)}`);
  const signature = fields.at(-1);
  // Without a signature the last field is a list: authorisations, or a key's.
  if (typeof signature !== 'string' || typeof fields === 'string') return TxEnvelopeTempo.deserialize(raw);
  const sealed = signature as HexText;
  // Before it is parsed: finding the parts of a WebAuthn signature takes time by the square of its size.
  if (Hex.size(sealed) > MAX_SIGNATURE_BYTES) throw new EnvelopeError('too_large');
  const unsigned: TxEnvelopeTempo.Serialized = `${TxEnvelopeTempo.serializedType}${Rlp.fromHex(fields.slice(0, -1)).slice(2)}`;
  return { ...TxEnvelopeTempo.deserialize(unsigned), signature: SignatureEnvelope.deserialize(sealed) };
}

function decodeEip1559(raw: TxEnvelopeEip1559.Serialized): SignedEnvelope {
  const envelope = attempt('undecodable', () => TxEnvelopeEip1559.deserialize(raw));
  const canonical = attempt('undecodable', () => TxEnvelopeEip1559.serialize(envelope));
  if (canonical !== raw) throw new EnvelopeError('not_canonical');
  const { r, s, yParity } = envelope;
  if (r === undefined || s === undefined || yParity === undefined) throw new EnvelopeError('signature_missing');
  const sign_payload = TxEnvelopeEip1559.getSignPayload(envelope);
  return {
    kind: 'eip1559',
    hash: keccak256(bytesOf(raw)),
    sign_payload,
    sender: recover(sign_payload, { r, s, yParity }),
    access_key: null,
    chain_id: envelope.chainId,
    calls: [{ to: envelope.to ?? null, value: envelope.value ?? 0n, data: envelope.data ?? '0x' }],
    extras: presentOf({ access_list: envelope.accessList }),
    nonce_key: 0n,
    nonce: envelope.nonce ?? 0n,
    valid_before: null,
    valid_after: null,
    gas: envelope.gas ?? 0n,
    max_fee_per_gas: envelope.maxFeePerGas ?? 0n,
    fee_token: null,
  };
}

type Signature = SignatureEnvelope.SignatureEnvelope;

/** `accountPayload`: what an access key signs for an account (version 2 binds the account's address). */
function authenticate(
  payload: HexText,
  signature: Signature,
  accountPayload: (account: HexText) => HexText,
): Pick<SignedEnvelope, 'sender' | 'access_key'> {
  if (signature.type !== 'keychain') return { sender: signerOf(payload, signature), access_key: null };
  // Version 1 does not bind the account and has not been accepted by the chain since its hardfork T1C.
  if (signature.version !== 'v2') throw new EnvelopeError('signature_kind');
  const sender = signature.userAddress.toLowerCase() as HexText;
  return { sender, access_key: signerOf(accountPayload(sender), signature.inner) };
}

function signerOf(payload: HexText, signature: Signature): HexText {
  if (signature.type === 'secp256k1') return recover(payload, signature.signature);
  if (signature.type !== 'p256' && signature.type !== 'webAuthn') throw new EnvelopeError('signature_kind');
  if (signature.signature.s > HALF_ORDER.p256) throw new EnvelopeError('signature_high_s');
  if (signature.type === 'webAuthn' && !isPlainAssertion(payload, signature.metadata)) throw new EnvelopeError('signature_invalid');
  const publicKey = signature.publicKey as PublicKey.PublicKey;
  const address = attempt('signature_invalid', () => Address.fromPublicKey(publicKey));
  const valid = attempt('signature_invalid', () => SignatureEnvelope.verify(signature, { payload, address }));
  if (!valid) throw new EnvelopeError('signature_invalid');
  return address.toLowerCase() as HexText;
}

function recover(payload: HexText, { r, s, yParity }: { r: bigint; s: bigint; yParity: number }): HexText {
  if (s > HALF_ORDER.secp256k1) throw new EnvelopeError('signature_high_s');
  const key = attempt('signature_invalid', () =>
    // libsecp256k1 as WebAssembly: a fifth of the time of curve arithmetic in JavaScript.
    recoverPublicKey(bytesOf(payload), Buffer.concat([bytesOf(wordOf(r)), bytesOf(wordOf(s))]), yParity as 0 | 1, false),
  );
  if (key === null) throw new EnvelopeError('signature_invalid');
  // An address is the last 20 bytes of the hash of the key without its format byte (yellow paper, appendix F).
  return `0x${keccak256(key.subarray(1)).slice(-40)}`;
}

const wordOf = (number: bigint): HexText => `0x${number.toString(16).padStart(64, '0')}`;

const bytesOf = (hex: HexText): Buffer => Buffer.from(hex.slice(2), 'hex');

/** The chain is stricter than the WebAuthn library: 37 bytes, no attested data, no extensions, the challenge spelled one way. */
function isPlainAssertion(payload: HexText, metadata: { authenticatorData: HexText; clientDataJSON: string }): boolean {
  const authenticatorData = Hex.toBytes(metadata.authenticatorData);
  const flags = authenticatorData[32] ?? 0;
  if (authenticatorData.length !== 37 || (flags & 0xc0) !== 0) return false;
  const { challenge } = JSON.parse(metadata.clientDataJSON) as { challenge?: unknown };
  return challenge === Buffer.from(payload.slice(2), 'hex').toString('base64url');
}

function presentOf(parts: Record<string, unknown>): string[] {
  return Object.keys(parts).filter((name) => parts[name] !== undefined);
}

/** Runs library code that throws in its own ways on hostile bytes, deep nesting included. */
function attempt<T>(fault: EnvelopeFault, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof EnvelopeError ? error : new EnvelopeError(fault);
  }
}
