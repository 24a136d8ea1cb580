import { Hash, Hex, Secp256k1, TxEnvelopeEip1559 } from 'ox';
import { SignatureEnvelope, TxEnvelopeTempo } from 'ox/tempo';
import { createClient, encodeFunctionData, http } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { Abis, Account } from 'viem/tempo';
import { tempoLocalnet } from 'viem/tempo/chains';
import type { LocalTempo } from '../../src/sandbox/chains/tempo';

type HexText = `0x${string}`;

export const TOKEN = '0x20c000000000000000000000b9537d11c60e8b50';
export const MERCHANT = '0x742d35cc6634c0532925a3b844bc9e7595f8fe00';
export const CHAIN_ID = 4217;
export const EXPIRING = 2n ** 256n - 1n;

const KEY: HexText = `0x${'11'.repeat(32)}`;
const ACCESS: HexText = `0x${'22'.repeat(32)}`;

/** One account per kind of signature; `access` signs for `secp256k1` with a key of its own. */
export const signers = {
  secp256k1: Account.fromSecp256k1(KEY),
  p256: Account.fromP256(KEY),
  webAuthn: Account.fromHeadlessWebAuthn(KEY, { rpId: 'example.com', origin: 'https://example.com' }),
  access: Account.fromSecp256k1(ACCESS, { access: Account.fromSecp256k1(KEY) }),
  accessP256: Account.fromP256(ACCESS, { access: Account.fromSecp256k1(KEY) }),
};
export type SignerKind = keyof typeof signers;
export interface TempoSigner {
  address: HexText;
  sign(parameters: { hash: HexText }): Promise<HexText>;
}
export const PAYER = privateKeyToAccount(KEY).address.toLowerCase() as HexText;

export function transferData(amount = 10_000n, to: string = MERCHANT): HexText {
  return encodeFunctionData({ abi: Abis.tip20, functionName: 'transfer', args: [to as HexText, amount] });
}

export function transferWithMemoData(memo: HexText): HexText {
  return encodeFunctionData({ abi: Abis.tip20, functionName: 'transferWithMemo', args: [MERCHANT as HexText, 10_000n, memo] });
}

/** An unsigned 0x76 transaction that pays 10 000 micro-USDC and breaks no rule, changed by `over`. */
export function envelope(over: Partial<TxEnvelopeTempo.TxEnvelopeTempo> = {}): TxEnvelopeTempo.TxEnvelopeTempo {
  const now = Math.floor(Date.now() / 1000);
  return {
    type: 'tempo',
    chainId: CHAIN_ID,
    gas: 105_000n,
    maxFeePerGas: 24_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    nonceKey: EXPIRING,
    nonce: 0n,
    validBefore: now + 25,
    validAfter: 1_500_000_000,
    calls: [{ to: TOKEN, data: transferData() }],
    ...over,
  };
}

/** Signs and serialises a 0x76 transaction; `by` one of `signers` or any account of viem/tempo. */
export async function signed(
  over: Partial<TxEnvelopeTempo.TxEnvelopeTempo> = {},
  by: SignerKind | TempoSigner = 'secp256k1',
): Promise<HexText> {
  const unsigned = envelope(over);
  const signer = typeof by === 'string' ? signers[by] : by;
  const signature = await signer.sign({ hash: TxEnvelopeTempo.getSignPayload(unsigned) });
  return TxEnvelopeTempo.serialize(unsigned, { signature: SignatureEnvelope.from(signature) });
}

/** Signs and serialises a 0x02 transaction. */
export function signedEip1559(over: Partial<TxEnvelopeEip1559.TxEnvelopeEip1559> = {}, privateKey: HexText = KEY): HexText {
  const unsigned = TxEnvelopeEip1559.from({
    chainId: CHAIN_ID,
    nonce: 3n,
    gas: 105_000n,
    maxFeePerGas: 24_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    to: TOKEN,
    data: transferData(),
    ...over,
  });
  const signature = Secp256k1.sign({ payload: TxEnvelopeEip1559.getSignPayload(unsigned), privateKey });
  return TxEnvelopeEip1559.serialize(unsigned, { signature });
}

/** The 32-byte memo with which mppx clients name the server, the client and the challenge they pay for. */
export function attributionMemo(realm: string, challengeId: string, client?: string): HexText {
  const part = (text: string, size: number): HexText => Hex.slice(Hash.keccak256(Hex.fromString(text)), 0, size);
  return Hex.concat(
    part('mpp', 4),
    '0x01',
    part(realm, 10),
    client === undefined ? `0x${'00'.repeat(10)}` : part(client, 10),
    part(challengeId, 7),
  );
}

/** The bytes with one of them changed, cut or added. */
export function flipped(raw: string, at: number, mask: number): HexText {
  const bytes = Hex.toBytes(raw as HexText);
  const i = at % bytes.length;
  bytes[i] = (bytes[i] as number) ^ mask;
  return Hex.fromBytes(bytes);
}

/** A new account with so many micro-USDC on a local chain. */
export async function fundedPayer(local: LocalTempo, usdc = 5_000_000n) {
  const privateKey = generatePrivateKey();
  const account = Account.fromSecp256k1(privateKey);
  await local.fund(account.address, usdc);
  return { ...account, privateKey, address: account.address.toLowerCase() as HexText };
}

/** A client of a local chain that signs for the account. */
export function clientOn(local: LocalTempo, account: { address: HexText }) {
  return createClient({
    account: account as Account.RootAccount,
    chain: { ...tempoLocalnet, id: local.chain_id as 1337 },
    transport: http(local.url),
    pollingInterval: 50,
  });
}
