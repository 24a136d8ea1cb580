import crypto from 'node:crypto';

/** What an offer binds: the two texts are stateless, so any process with the secret can read them back. */
export interface Quote {
  /** 12 characters, unique per offer. */
  id: string;
  /** Whole seconds. */
  expires_at: Date;
  /** Micro-USDC. */
  amount: bigint;
  /** SHA-256 (hex) of the request. */
  request_hash: string;
}

const MEMO_PREFIX = 'q1.';
const QUOTE_PREFIX = 't1.';

const mac = (secret: string, label: string, { id, expires_at, amount, request_hash }: Quote): Buffer =>
  crypto
    .createHmac('sha256', secret)
    .update([label, id, base36(expires_at), amount.toString(), request_hash].join('|'))
    .digest();

const base36 = (at: Date): string => Math.floor(at.getTime() / 1000).toString(36);
const fromBase36 = (text: string): Date => new Date(parseInt(text, 36) * 1000);

export function newQuoteId(): string {
  return crypto.randomBytes(9).toString('base64url');
}

/** Goes on chain: `q1.<id>.<expiry base36>.<22-character MAC>`, under 64 bytes. Tells nothing about the token. */
export function memoOf(quote: Quote, secret: string): string {
  return `${MEMO_PREFIX}${quote.id}.${base36(quote.expires_at)}.${mac(secret, 'memo', quote).toString('base64url').slice(0, 22)}`;
}

/** Never on chain: whoever holds it is the one the offer was made to. */
export function tokenOf(quote: Quote, secret: string): string {
  return `${QUOTE_PREFIX}${quote.id}.${base36(quote.expires_at)}.${quote.amount.toString(36)}.${mac(secret, 'token', quote).toString('base64url')}`;
}

/** Whether a memo says that it is one of ours; findMemo tells whether it is. */
export const isMemoOfOurs = (memo: string): boolean => memo.startsWith(MEMO_PREFIX);

/** The quote a memo was made for, undefined when it is not ours or is for another request or amount. */
export function findMemo(memo: string, amount: bigint, requestHash: string, secrets: readonly string[]): Quote | undefined {
  const match = /^q1\.([\w-]{12})\.([0-9a-z]{1,9})\.[\w-]{22}$/.exec(memo);
  if (match === null) return undefined;
  const quote = { id: match[1] as string, expires_at: fromBase36(match[2] as string), amount, request_hash: requestHash };
  return secrets.some((secret) => equal(memoOf(quote, secret), memo)) ? quote : undefined;
}

/** The quote a token was made for, undefined when it is not ours or is for another request. */
export function findToken(token: string, requestHash: string, secrets: readonly string[]): Quote | undefined {
  const match = /^t1\.([\w-]{12})\.([0-9a-z]{1,9})\.([0-9a-z]{1,12})\.[\w-]{43}$/.exec(token);
  if (match === null) return undefined;
  const amount = [...(match[3] as string)].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n);
  const quote = { id: match[1] as string, expires_at: fromBase36(match[2] as string), amount, request_hash: requestHash };
  return secrets.some((secret) => equal(tokenOf(quote, secret), token)) ? quote : undefined;
}

/** In a time that does not tell how much of the two is the same. */
export function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && crypto.timingSafeEqual(left, right);
}
