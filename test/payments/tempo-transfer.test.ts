import fc from 'fast-check';
import { Hash, Hex, Rlp, Signature } from 'ox';
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import { AppError } from '../../src/errors';
import {
  type TempoTerms,
  type TempoTransfer,
  assertTimely,
  claimKeysOf,
  maxFee,
  turnOf,
  verifyTempoTransfer,
} from '../../src/payments/protocols/tempo-transfer';
import {
  CHAIN_ID,
  EXPIRING,
  MERCHANT,
  PAYER,
  type SignerKind,
  TOKEN,
  attributionMemo,
  envelope,
  flipped,
  signed,
  signedEip1559,
  signers,
  transferData,
  transferWithMemoData,
} from '../support/tempo-transactions';

type HexText = `0x${string}`;
type RlpItem = HexText | RlpItem[];

const CASES = Number(process.env.PROPERTY_CASES ?? 500);
const CHALLENGE_ID = '5akKRA6fyJhLooto0LfTPeSFOyf6TMGGRyHZgDBmanY';
const terms: TempoTerms = {
  chain_id: CHAIN_ID,
  token: TOKEN,
  recipient: MERCHANT,
  amount: 10_000n,
  realm: 'api.example.com',
  challenge_id: CHALLENGE_ID,
};
const SECP_N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const P256_N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

function outcome(raw: string, over: Partial<TempoTerms> = {}): string {
  try {
    verifyTempoTransfer(raw, { ...terms, ...over });
    return 'accepted';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.context.message).toMatch(/^[A-Z].*\.$/);
    return `${error.code} ${error.context.reason}`;
  }
}

/** The fields of a 0x76 transaction, changed as a list of RLP items. */
function withFields(raw: string, change: (fields: RlpItem[]) => void): HexText {
  const fields = [...(Rlp.toHex(`0x${raw.slice(4)}`) as RlpItem[])];
  change(fields);
  return Hex.concat('0x76', Rlp.fromHex(fields as HexText[]));
}

describe('what is accepted', () => {
  it.each<[SignerKind, string]>([
    ['secp256k1', PAYER],
    ['p256', signers.p256.address.toLowerCase()],
    ['webAuthn', signers.webAuthn.address.toLowerCase()],
  ])('a transfer signed with %s, and who sent it', async (kind, sender) => {
    const raw = await signed({}, kind);
    const transfer = verifyTempoTransfer(raw, { ...terms, source: `did:pkh:eip155:4217:${sender}` });
    expect(transfer).toMatchObject({
      kind: 'tempo',
      sender,
      access_key: null,
      memo: null,
      nonce_key: EXPIRING,
      nonce: 0n,
      gas: 105_000n,
      hash: Hash.keccak256(raw),
    });
    expect(transfer.sign_payload).toBe(TxEnvelopeTempo.getSignPayload(TxEnvelopeTempo.deserialize(raw as TxEnvelopeTempo.Serialized)));
    expect(claimKeysOf(transfer)).toEqual({ payment: `tempo:${sender}:${transfer.sign_payload}`, bytes: `tempo:${transfer.hash}` });
  });

  it.each(['access', 'accessP256'] as const)('a transfer signed by an access key (%s) for its account', async (kind) => {
    const transfer = verifyTempoTransfer(await signed({}, kind), terms);
    expect(transfer).toMatchObject({ sender: PAYER, access_key: signers[kind].accessKeyAddress.toLowerCase() });
  });

  it('a plain EIP-1559 transfer', () => {
    const raw = signedEip1559();
    expect(verifyTempoTransfer(raw, terms)).toMatchObject({
      kind: 'eip1559',
      sender: PAYER,
      nonce_key: 0n,
      nonce: 3n,
      valid_before: null,
      valid_after: null,
      fee_token: null,
      hash: Hash.keccak256(raw),
    });
  });

  it('a memo of the buyer, an attribution memo of this challenge, with or without a client', async () => {
    const free: HexText = `0x${'ab'.repeat(32)}`;
    expect(verifyTempoTransfer(await signed({ calls: [{ to: TOKEN, data: transferWithMemoData(free) }] }), terms).memo).toBe(free);
    for (const client of [undefined, 'some client']) {
      const memo = attributionMemo(terms.realm, CHALLENGE_ID, client);
      expect(verifyTempoTransfer(await signed({ calls: [{ to: TOKEN, data: transferWithMemoData(memo) }] }), terms).memo).toBe(memo);
    }
  });

  it('the published memo of the published challenge', async () => {
    const memo = '0xef1ed712011ece072f76bd8b82350e00000000000000000000ea5e7b077eaa5e';
    expect(attributionMemo('api.example.com', CHALLENGE_ID)).toBe(memo);
    expect(outcome(await signed({ calls: [{ to: TOKEN, data: transferWithMemoData(memo) }] }))).toBe('accepted');
  });

  it('sequenced nonces, no expiry, a fee token, upper-case hex, a source that says nothing', async () => {
    expect(outcome(await signed({ nonceKey: 0n, nonce: 7n, validBefore: undefined, validAfter: undefined }))).toBe('accepted');
    expect(outcome(await signed({ nonceKey: 5n, nonce: 1n, feeToken: '0x20c0000000000000000000000000000000000000' }))).toBe('accepted');
    const raw = await signed();
    expect(outcome(`0x${raw.slice(2).toUpperCase()}`)).toBe('accepted');
    expect(verifyTempoTransfer(`0x${raw.slice(2).toUpperCase()}`, terms)).toEqual(verifyTempoTransfer(raw, terms));
    expect(outcome(raw, { source: `did:pkh:eip155:undefined:${MERCHANT}` })).toBe('accepted');
    expect(outcome(raw, { source: 'somebody' })).toBe('accepted');
  });

  it('a network fee of one dollar', async () => {
    expect(outcome(await signed({ gas: 1_000_000n, maxFeePerGas: 1_000_000_000_000n }))).toBe('accepted');
  });

  it('the same payment under every spelling of the terms', async () => {
    expect(
      outcome(await signed(), {
        token: '0x20C000000000000000000000b9537d11c60E8b50',
        recipient: '0x742d35Cc6634C0532925a3b844Bc9e7595f8fE00',
      }),
    ).toBe('accepted');
  });
});

describe('what is refused', () => {
  const other = '0x00000000000000000000000000000000000000aa';
  const word = (hex: string): string => hex.padStart(64, '0');
  const call = (data: string): Partial<TxEnvelopeTempo.TxEnvelopeTempo> => ({ calls: [{ to: TOKEN, data: data as HexText }] });
  const access = { address: other as HexText, storageKeys: [] };

  const rules: [string, () => Promise<string> | string, string][] = [
    ['no hex', () => 'transaction', 'encoding'],
    ['half a byte', () => '0x760', 'encoding'],
    ['nothing', () => '0x', 'encoding'],
    ['more than 8 KiB', () => `0x76${'00'.repeat(8_192)}`, 'too_large'],
    ['a transaction that waits for a sponsor', async () => `0x78${(await signed()).slice(4)}`, 'sponsored_transaction'],
    ['a legacy transaction', () => '0xf86b8085', 'transaction_type'],
    ['a blob transaction', () => '0x03f86b', 'transaction_type'],
    ['garbage behind the type', () => '0x76deadbeef', 'undecodable'],
    ['lists in lists in lists', () => `0x76${'f9ffff'.repeat(2_000)}`, 'undecodable'],
    ['eight thousand lists', () => `0x76${'c1'.repeat(8_000)}`, 'undecodable'],
    ['bytes after the end', async () => `${await signed()}00`, 'not_canonical'],
    ['bytes after the end of 0x02', () => `${signedEip1559()}00`, 'not_canonical'],
    ['a zero written as a byte', async () => withFields(await signed(), (fields) => void (fields[7] = '0x00')), 'not_canonical'],
    ['a number with a leading zero', async () => withFields(await signed(), (fields) => void (fields[3] = '0x00019a28')), 'not_canonical'],
    [
      'a call with a fourth part',
      async () => withFields(await signed(), (fields) => void (fields[4] = [[TOKEN, '0x', transferData(), '0x01']])),
      'not_canonical',
    ],
    [
      'magic bytes after the signature',
      async () => withFields(await signed(), (fields) => void (fields[13] = `${fields[13] as string}${'77'.repeat(32)}` as HexText)),
      'not_canonical',
    ],
    [
      'a recovery id of 0 or 1',
      async () => withFields(await signed(), (fields) => void (fields[13] = `${(fields[13] as string).slice(0, -2)}00` as HexText)),
      'not_canonical',
    ],
    ['no signature', () => TxEnvelopeTempo.serialize(envelope()), 'signature_missing'],
    [
      'an oversized signature',
      async () => withFields(await signed(), (fields) => void (fields[13] = `0x02${'7b'.repeat(3_000)}`)),
      'too_large',
    ],
    [
      'a multisig signature',
      async () =>
        withFields(await signed(), (fields) => void (fields[13] = Hex.concat('0x05', Rlp.fromHex([other, [fields[13] as HexText]])))),
      'signature_kind',
    ],
    [
      'an access key of version 1',
      async () =>
        withFields(await signed({}, 'access'), (fields) => void (fields[13] = (fields[13] as string).replace(/^0x04/, '0x03') as HexText)),
      'signature_kind',
    ],
    [
      'an access key for an access key',
      async () => withFields(await signed({}, 'access'), (fields) => void (fields[13] = Hex.concat('0x04', other, fields[13] as HexText))),
      'signature_kind',
    ],
    ['another chain', () => signed({ chainId: 42_431 }), 'chain_mismatch'],
    [
      'two calls',
      () =>
        signed({
          calls: [
            { to: TOKEN, data: transferData() },
            { to: TOKEN, data: transferData() },
          ],
        }),
      'call_count',
    ],
    [
      'a refund call',
      () =>
        signed({
          calls: [
            { to: TOKEN, data: transferData() },
            { to: TOKEN, data: '0x23b872dd' },
          ],
        }),
      'call_count',
    ],
    [
      'another token',
      () => signed({ calls: [{ to: '0x20c0000000000000000000000000000000000000', data: transferData() }] }),
      'token_mismatch',
    ],
    ['a contract creation', () => signed({ calls: [{ data: transferData() }] }), 'token_mismatch'],
    ['value', () => signed({ calls: [{ to: TOKEN, data: transferData(), value: 1n }] }), 'value_not_zero'],
    ['transferFrom', () => signed(call(`0x23b872dd${word(PAYER.slice(2))}${word(MERCHANT.slice(2))}${word('2710')}`)), 'call_unsupported'],
    ['approve', () => signed(call(`0x095ea7b3${word(MERCHANT.slice(2))}${word('2710')}`)), 'call_unsupported'],
    ['no call data', () => signed({ calls: [{ to: TOKEN }] }), 'call_unsupported'],
    ['the name of the call alone', () => signed(call(transferData().slice(0, 10) as `0x${string}`)), 'call_data'],
    ['call data cut short', () => signed(call(transferData().slice(0, -2))), 'call_data'],
    ['call data with a tail', () => signed(call(`${transferData()}00`)), 'call_data'],
    ['a memo behind a plain transfer', () => signed(call(`${transferData()}${'00'.repeat(32)}`)), 'call_data'],
    ['transferWithMemo without its memo', () => signed(call(`0x95777d59${transferData().slice(10)}`)), 'call_data'],
    ['an address with dirty padding', () => signed(call(`0xa9059cbb01${word(MERCHANT.slice(2)).slice(2)}${word('2710')}`)), 'call_data'],
    ['another recipient', () => signed(call(transferData(10_000n, other))), 'recipient_mismatch'],
    ['more than the price', () => signed(call(transferData(10_001n))), 'amount_mismatch'],
    ['the price and 2^255', () => signed(call(transferData(10_000n + 2n ** 255n))), 'amount_mismatch'],
    ['an access list', () => signed({ accessList: [access] }), 'extra_parts'],
    ['an access list in 0x02', () => signedEip1559({ accessList: [access] }), 'extra_parts'],
    ['a place for a sponsor', () => signed({ feePayerSignature: null }), 'extra_parts'],
    ['a sponsor', () => signed({ feePayerSignature: { r: 1n, s: 1n, yParity: 0 } }), 'extra_parts'],
    ['a nonce key beyond 256 bits', () => signed({ nonceKey: 2n ** 256n }), 'undecodable'],
    ['an expiring transaction with a nonce', () => signed({ nonce: 1n }), 'expiring_nonce'],
    ['an expiring transaction without an end', () => signed({ validBefore: undefined }), 'expiring_nonce'],
    ['more gas than the chain gives', () => signed({ gas: 30_000_001n }), 'gas_limit'],
    ['less gas than any call needs', () => signed({ gas: 20_999n }), 'gas_limit'],
    ['a fee over one dollar', () => signed({ gas: 1_000_000n, maxFeePerGas: 1_000_000_000_001n }), 'fee_cap'],
  ];
  it.each(rules)('%s', async (_, build, reason) => {
    expect(outcome(await build())).toBe(`verification_failed ${reason}`);
  });

  it('less than the price, by its own name', async () => {
    expect(outcome(await signed(call(transferData(9_999n))))).toBe('payment_insufficient amount_mismatch');
    expect(outcome(signedEip1559({ data: transferData(0n) }))).toBe('payment_insufficient amount_mismatch');
  });

  it('an authorisation of a new key', async () => {
    const { KeyAuthorization } = await import('ox/tempo');
    const authorization = KeyAuthorization.from({ address: other, chainId: BigInt(CHAIN_ID), type: 'secp256k1' });
    const signature = await signers.secp256k1.sign({ hash: KeyAuthorization.getSignPayload(authorization) });
    const keyAuthorization = KeyAuthorization.from(authorization, { signature: SignatureEnvelope.from(signature) as never });
    expect(outcome(await signed({ keyAuthorization: keyAuthorization as never }))).toBe('verification_failed extra_parts');
  });

  it('code for an account to run', async () => {
    const { AuthorizationTempo } = await import('ox/tempo');
    const authorization = AuthorizationTempo.from({ address: other, chainId: CHAIN_ID, nonce: 0n });
    const signature = SignatureEnvelope.from(await signers.secp256k1.sign({ hash: AuthorizationTempo.getSignPayload(authorization) }));
    const authorizationList = [AuthorizationTempo.from(authorization, { signature })];
    expect(outcome(await signed({ authorizationList }))).toBe('verification_failed extra_parts');
  });

  it('an attribution memo of another realm, challenge or version', async () => {
    const good = attributionMemo(terms.realm, CHALLENGE_ID);
    const memos = [
      attributionMemo('other.example.com', CHALLENGE_ID),
      attributionMemo(terms.realm, 'another'),
      `${good.slice(0, 10)}02${good.slice(12)}` as HexText,
    ];
    for (const memo of memos) expect(outcome(await signed(call(transferWithMemoData(memo))))).toBe('verification_failed memo_mismatch');
  });

  it('a source who did not sign', async () => {
    expect(outcome(await signed(), { source: `did:pkh:eip155:4217:${MERCHANT}` })).toBe('verification_failed source_mismatch');
    expect(outcome(await signed({}, 'access'), { source: `did:pkh:eip155:4217:${signers.access.accessKeyAddress}` })).toBe(
      'verification_failed source_mismatch',
    );
  });
});

describe('signatures', () => {
  /** The same transaction with its signature changed. */
  const resigned = async (
    kind: SignerKind,
    change: (signature: SignatureEnvelope.SignatureEnvelope) => SignatureEnvelope.SignatureEnvelope,
  ): Promise<HexText> => {
    const tx = TxEnvelopeTempo.deserialize((await signed({}, kind)) as TxEnvelopeTempo.Serialized);
    return TxEnvelopeTempo.serialize(tx, { signature: change(tx.signature as SignatureEnvelope.SignatureEnvelope) });
  };

  it('high s is the second spelling of the same signature', async () => {
    const high = (order: bigint) => (envelope: SignatureEnvelope.SignatureEnvelope) => {
      const { r, s, yParity } = envelope.signature as Signature.Signature;
      return {
        ...envelope,
        signature: { r, s: order - s, ...(yParity === undefined ? {} : { yParity: 1 - yParity }) },
      } as SignatureEnvelope.SignatureEnvelope;
    };
    expect(outcome(await resigned('secp256k1', high(SECP_N)))).toBe('verification_failed signature_high_s');
    expect(outcome(await resigned('p256', high(P256_N)))).toBe('verification_failed signature_high_s');
    expect(outcome(await resigned('webAuthn', high(P256_N)))).toBe('verification_failed signature_high_s');
  });

  it('a forged P256 or WebAuthn envelope names a victim and proves nothing', async () => {
    const victim = TxEnvelopeTempo.deserialize((await signed({ gas: 200_000n }, 'p256')) as TxEnvelopeTempo.Serialized).signature;
    expect(outcome(await resigned('p256', () => victim as SignatureEnvelope.SignatureEnvelope))).toBe(
      'verification_failed signature_invalid',
    );
    const passkey = TxEnvelopeTempo.deserialize((await signed({ gas: 200_000n }, 'webAuthn')) as TxEnvelopeTempo.Serialized).signature;
    expect(outcome(await resigned('webAuthn', () => passkey as SignatureEnvelope.SignatureEnvelope))).toBe(
      'verification_failed signature_invalid',
    );
  });

  it('one payment signed twice, as P256 and as WebAuthn, is one payment', async () => {
    const fixed = { validBefore: 1_900_000_000 };
    const [one, two] = [
      verifyTempoTransfer(await signed(fixed, 'p256'), terms),
      verifyTempoTransfer(await signed(fixed, 'webAuthn'), terms),
    ];
    expect(claimKeysOf(one).payment).toBe(claimKeysOf(two).payment);
    expect(claimKeysOf(one).bytes).not.toBe(claimKeysOf(two).bytes);
  });

  it('an access key binds its account: the same signature for another account is another key', async () => {
    const raw = await resigned('access', (envelope) => ({ ...envelope, userAddress: MERCHANT }) as SignatureEnvelope.SignatureEnvelope);
    const transfer = verifyTempoTransfer(raw, terms);
    expect(transfer.sender).toBe(MERCHANT);
    expect(transfer.access_key).not.toBe(signers.access.accessKeyAddress.toLowerCase());
  });

  const assertion = async (change: (authenticatorData: Uint8Array, clientData: Record<string, unknown>) => void): Promise<HexText> => {
    const { P256 } = await import('ox');
    const tx = envelope();
    const payload = TxEnvelopeTempo.getSignPayload(tx);
    const authenticatorData = new Uint8Array(37).fill(7, 0, 32);
    authenticatorData[32] = 1;
    const clientData = {
      type: 'webauthn.get',
      challenge: Buffer.from(payload.slice(2), 'hex').toString('base64url'),
      origin: 'https://example.com',
    };
    let data: Uint8Array = authenticatorData;
    const grow = { set: (bytes: Uint8Array) => void (data = bytes) };
    change(Object.assign(authenticatorData, { grow }) as never, clientData);
    const clientDataJSON = JSON.stringify(clientData);
    const message = Hex.concat(Hex.fromBytes(data), Hash.sha256(Hex.fromString(clientDataJSON)));
    const privateKey: HexText = `0x${'33'.repeat(32)}`;
    const signature = P256.sign({ payload: message, privateKey, hash: true });
    return TxEnvelopeTempo.serialize(tx, {
      signature: {
        type: 'webAuthn',
        metadata: { authenticatorData: Hex.fromBytes(data), clientDataJSON },
        publicKey: P256.getPublicKey({ privateKey }),
        signature,
      },
    });
  };
  type Growing = Uint8Array & { grow: { set(bytes: Uint8Array): void } };

  it('a WebAuthn assertion made by hand is good', async () => {
    expect(outcome(await assertion(() => undefined))).toBe('accepted');
  });

  it.each<[string, (data: Uint8Array, client: Record<string, unknown>) => void]>([
    ['without a user', (data) => void (data[32] = 0)],
    ['with attested data', (data) => void (data[32] = 0x41)],
    ['with extensions', (data) => void (data[32] = 0x81)],
    ['with more than 37 bytes', (data) => (data as Growing).grow.set(new Uint8Array([...data, 0]))],
    ['of another kind', (_, client) => void (client.type = 'webauthn.create')],
    ['for another payload', (_, client) => void (client.challenge = Buffer.alloc(32, 1).toString('base64url'))],
    ['with a padded challenge', (_, client) => void (client.challenge = `${client.challenge as string}=`)],
    ['without a challenge', (_, client) => void delete client.challenge],
  ])('a WebAuthn assertion %s is not, though correctly signed', async (_, change) => {
    expect(outcome(await assertion(change))).toBe('verification_failed signature_invalid');
  });

  it('refuses the largest WebAuthn signature without looking for its parts', async () => {
    const raw = withFields(await signed(), (fields) => void (fields[13] = `0x02${'7b'.repeat(2_069)}`));
    expect(outcome(raw)).toBe('verification_failed undecodable');
  });
});

describe('validity window', () => {
  const now = 1_900_000_000;
  const judge = (valid_before: number | null, valid_after: number | null, nonce_key = EXPIRING): string => {
    try {
      assertTimely({ valid_before, valid_after, nonce_key }, now);
      return 'timely';
    } catch (error) {
      return `${(error as AppError).code} ${(error as AppError).context.reason}`;
    }
  };

  it.each<[number | null, number | null, bigint, string]>([
    [now + 25, now - 1, EXPIRING, 'timely'],
    [now + 5, null, EXPIRING, 'timely'],
    [now + 4, null, EXPIRING, 'payment_expired valid_before'],
    [now, null, 0n, 'payment_expired valid_before'],
    [now - 100, null, EXPIRING, 'payment_expired valid_before'],
    [now + 35, null, EXPIRING, 'timely'],
    [now + 36, null, EXPIRING, 'verification_failed valid_before_too_far'],
    [now + 3_600, null, 0n, 'timely'],
    [null, null, 0n, 'timely'],
    [null, now, 7n, 'timely'],
    [now + 20, now + 1, EXPIRING, 'verification_failed not_yet_valid'],
  ])('validBefore %p, validAfter %p, key %p: %s', (before, after, key, expected) => {
    expect(judge(before, after, key)).toBe(expected);
  });
});

describe('turnOf', () => {
  it('is one of each account, sequence and place in it, and none of what expires', () => {
    const turn = { sender: PAYER as HexText, nonce_key: 5n, nonce: 1n };
    const others = [{ sender: MERCHANT as HexText }, { nonce_key: 6n }, { nonce: 2n }];
    expect(new Set([turn, ...others.map((other) => ({ ...turn, ...other }))].map(turnOf)).size).toBe(4);
    expect(turnOf({ ...turn })).toBe(turnOf(turn));
    expect(turnOf({ ...turn, nonce_key: EXPIRING, nonce: 0n })).toBeUndefined();
  });
});

describe('maxFee', () => {
  it('is gas times price in attodollars, in micro-dollars, rounded up', () => {
    // 50 000 gas at 20 billion attodollars are 0.001 dollars (TIP-1010).
    expect(maxFee({ gas: 50_000n, max_fee_per_gas: 20_000_000_000n })).toBe(1_000n);
    expect(maxFee({ gas: 50_000n, max_fee_per_gas: 20_000_000_001n })).toBe(1_001n);
    expect(maxFee({ gas: 21_000n, max_fee_per_gas: 0n })).toBe(0n);
  });
});

describe('mutations', () => {
  const kinds: (SignerKind | 'eip1559')[] = ['secp256k1', 'p256', 'webAuthn', 'access', 'eip1559'];
  const originals = new Map<string, { raw: HexText; key: string; sender: string }>();
  beforeAll(async () => {
    for (const kind of kinds) {
      const raw =
        kind === 'eip1559'
          ? signedEip1559()
          : await signed({ calls: [{ to: TOKEN, data: transferWithMemoData(attributionMemo(terms.realm, CHALLENGE_ID)) }] }, kind);
      const transfer = verifyTempoTransfer(raw, terms);
      originals.set(kind, { raw, key: claimKeysOf(transfer).payment, sender: transfer.sender });
    }
  });

  /** Bytes changed, cut out, put in, swapped; or an RLP field replaced, dropped or doubled. */
  const mutation = fc.oneof(
    fc.record({ how: fc.constant('flip' as const), at: fc.nat(4_000), mask: fc.integer({ min: 1, max: 255 }) }),
    fc.record({ how: fc.constant('cut' as const), at: fc.nat(4_000), mask: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ how: fc.constant('insert' as const), at: fc.nat(4_000), mask: fc.nat(255) }),
    fc.record({ how: fc.constant('field' as const), at: fc.nat(13), mask: fc.nat(2 ** 31) }),
    fc.record({ how: fc.constant('drop' as const), at: fc.nat(13), mask: fc.constant(0) }),
    fc.record({ how: fc.constant('double' as const), at: fc.nat(13), mask: fc.constant(0) }),
  );
  type Mutation = { how: string; at: number; mask: number };

  function mutated(raw: HexText, { how, at, mask }: Mutation): HexText {
    const bytes = [...Hex.toBytes(raw)];
    const i = at % bytes.length;
    if (how === 'flip') return flipped(raw, at, mask);
    if (how === 'cut') return Hex.fromBytes(Uint8Array.from([...bytes.slice(0, i), ...bytes.slice(i + mask)]));
    if (how === 'insert') return Hex.fromBytes(Uint8Array.from([...bytes.slice(0, i), mask, ...bytes.slice(i)]));
    const fields = [...(Rlp.toHex(`0x${raw.slice(4)}`) as HexText[])];
    const k = at % fields.length;
    if (how === 'field') fields[k] = Hex.fromNumber(mask);
    if (how === 'drop') fields.splice(k, 1);
    if (how === 'double') fields.splice(k, 0, fields[k] as HexText);
    return Hex.concat(raw.slice(0, 4) as HexText, Rlp.fromHex(fields));
  }

  const accessKey = signers.access.accessKeyAddress.toLowerCase();
  /** Runs the property over mutated payments the verifier accepts. */
  const everyAccepted = (stated: boolean, judge: (transfer: TempoTransfer, original: { key: string; sender: string }) => void): void => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), mutation, (kind, how) => {
        const { raw, key, sender } = originals.get(kind) as { raw: HexText; key: string; sender: string };
        const changed = mutated(raw, how);
        const source = stated ? { source: `did:pkh:eip155:4217:${sender}` } : {};
        fc.pre(changed !== raw);
        if (outcome(changed, source) === 'accepted') judge(verifyTempoTransfer(changed, { ...terms, ...source }), { key, sender });
      }),
      { numRuns: CASES },
    );
  };
  // Bytes signed by an access key of the account's owner recover, once changed, to a key that the account never authorised.
  const provenFor = (transfer: TempoTransfer): boolean => transfer.access_key === null || transfer.access_key === accessKey;

  it('of a payment are refused, or are the same payment', () => {
    everyAccepted(true, (transfer, { key }) => {
      if (provenFor(transfer)) expect(claimKeysOf(transfer).payment).toBe(key);
    });
  });

  it('without a stated source are refused, the same payment, or by somebody who does not exist', () => {
    everyAccepted(false, (transfer, { key, sender }) => {
      if (transfer.sender === sender && provenFor(transfer)) expect(claimKeysOf(transfer).payment).toBe(key);
    });
  });

  it('of nothing at all crash nothing', () => {
    fc.assert(
      fc.property(fc.constantFrom('0x76', '0x02', '0x78', '0x'), fc.uint8Array({ maxLength: 600 }), (prefix, bytes) => {
        expect(outcome(`${prefix}${Buffer.from(bytes).toString('hex')}`)).not.toBe('accepted');
      }),
      { numRuns: CASES },
    );
  });
});
