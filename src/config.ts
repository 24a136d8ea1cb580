import path from 'node:path';
import { isBase58Address } from './lib/address';
import { type Clock, realClock, standingClock } from './lib/clock';
import { isTold } from './lib/timeframe';
import type { VenueName } from './lib/venue-name';

/** Where a chain is reached, or false: the sandbox starts its own. */
interface ChainConfig {
  rpc_urls: string[];
  pay_to: string;
}

/** Everything the program reads from its environment. What is off is false. */
export interface Config {
  port: number;
  internalPort: number;
  /** Public address without a slash at the end, or false: made of host and port. */
  publicUrl: string | false;
  trustedProxies: number;
  /** False: the embedded database under dataDir. */
  databaseUrl: string | false;
  replicaUrl: string | false;
  dataDir: string;
  sandboxDir: string;
  clock: Clock;
  /** The simulated world the sandbox loads and keeps alive, or false: none. */
  world: { size: number; seed: number } | false;
  /** True when no chain is configured: local chains, wallets with play money. */
  sandbox: boolean;
  /** Whether CLOCK holds the now of analytics still. */
  clockStands: boolean;
  solana: (ChainConfig & { network: 'mainnet' | 'devnet'; genesis_hash: string | null; sponsor_key: string | false }) | false;
  tempo: (ChainConfig & { chain_id: number }) | false;
  /** Base URLs of the upstreams that are polled, by venue and name; a venue without any is served from recorded data. */
  upstreams: Record<VenueName, Record<string, string>>;
  /** Requests a second to those of which that depends on who runs them, by the same names. */
  upstreamRates: Partial<Record<VenueName, Record<string, number>>>;
  /** Programs and fee payers of whoever operates this service: lp/platform/operator-share tells their part. */
  operatorAccounts: string[];
  /** HMAC secrets: the first signs, all verify. Empty only in the sandbox, which makes and keeps its own. */
  paymentSecrets: string[];
  bodyMode: 'v1' | 'v2';
  unpaidPerMinute: number;
  emptyPerMinute: number;
  /** Queries executed at once, or false: twice as many as this machine has processors. */
  queriesAtOnce: number | false;
  logLevel: string;
}

/** The public address, as configured or as it is on this machine. */
export const publicUrlOf = ({ publicUrl, port }: Pick<Config, 'publicUrl' | 'port'>): string =>
  publicUrl === false ? `http://localhost:${port}` : publicUrl;

type Environment = Readonly<Record<string, string | undefined>>;

/** Sizes of simulated worlds by name: about how many facts a venue has in 30 days. */
export const WORLD_SIZES: Readonly<Record<string, number>> = { small: 30_000, medium: 300_000, large: 3_000_000 };

/** The program that the simulated world's operator calls. */
const SANDBOX_OPERATOR = 'HKyLpGScPPYjQ1vA4BFBAGJEHduLyhhm1pNzMB5SKY7C';

const MAINNET_GENESIS = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const DEVNET_GENESIS = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const TEMPO_MAINNET = 4217;

/** Environment to Config: pure, and the only reader of the environment. Throws one sentence that names the variable. */
export function makeConfig(env: Environment, root: string): Config {
  const solana = solanaOf(env);
  const tempo = tempoOf(env);
  const sandbox = solana === false && tempo === false;
  if (sandbox) checkNobodyIsPaid(env);
  return {
    port: integer(env, 'PORT', 3000, 0, 65_535),
    internalPort: integer(env, 'INTERNAL_PORT', 3001, 0, 65_535),
    publicUrl: webUrl(env, 'PUBLIC_URL')?.replace(/\/+$/, '') ?? false,
    trustedProxies: integer(env, 'TRUSTED_PROXIES', 0, 0, 10),
    databaseUrl: databaseUrl(env, 'DATABASE_URL') ?? false,
    replicaUrl: databaseUrl(env, 'DATABASE_REPLICA_URL') ?? false,
    dataDir: path.resolve(root, text(env, 'DATA_DIR') ?? '.data'),
    sandboxDir: path.resolve(root, '.sandbox'),
    clock: clockOf(env),
    clockStands: text(env, 'CLOCK') !== undefined,
    world: worldOf(env, sandbox),
    sandbox,
    solana,
    tempo,
    upstreams: upstreamsOf(env),
    upstreamRates: { lp: { rpc: integer(env, 'LP_RPC_PER_SECOND', 500, 1, 1_000_000) } },
    operatorAccounts: accounts(env, 'LP_OPERATOR_ACCOUNTS', sandbox ? [SANDBOX_OPERATOR] : []),
    paymentSecrets: secretsOf(env, sandbox),
    bodyMode: choice(env, 'X402_BODY', ['v2', 'v1']),
    unpaidPerMinute: integer(env, 'UNPAID_PER_MINUTE', 300, 0, 1_000_000),
    emptyPerMinute: integer(env, 'EMPTY_PER_MINUTE', 30, 0, 1_000_000),
    queriesAtOnce: integer(env, 'QUERIES_AT_ONCE', 0, 0, 1_000) || false,
    logLevel: choice(env, 'LOG_LEVEL', ['warn', 'silent', 'error', 'info', 'debug']),
  };
}

const text = (env: Environment, name: string): string | undefined => env[name]?.trim() || undefined;

function required(env: Environment, name: string, why: string): string {
  const value = text(env, name);
  if (value === undefined) throw new Error(`${name} must be set: ${why}.`);
  return value;
}

function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const value = text(env, name);
  if (value === undefined) return fallback;
  if (!/^\d+$/.test(value) || Number(value) < min || Number(value) > max)
    throw new Error(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
  return Number(value);
}

function choice<T extends string>(env: Environment, name: string, allowed: readonly [T, ...T[]]): T {
  const value = text(env, name) ?? allowed[0];
  if (!allowed.includes(value as T)) throw new Error(`${name} must be one of ${allowed.join(', ')}, not "${value}".`);
  return value as T;
}

function databaseUrl(env: Environment, name: string): string | undefined {
  const value = text(env, name);
  // What names no server is read as the one on this machine. The value may hold a password: never repeated in the message.
  if (value !== undefined && !(URL.canParse(value) && /^postgres(ql)?:\/\/./i.test(value)))
    throw new Error(`${name} must be a URL that begins with postgresql:// or postgres://.`);
  if (value !== undefined && !isEncoded(new URL(value)))
    throw new Error(
      `${name} must have what is special in its user and password percent-encoded, as %40 for @, %2F for /, %23 for # and %25 for %.`,
    );
  return value;
}

/** A password that is not would end the address's host: a part of it would be looked up, and told, as its path. */
function isEncoded({ username, password, pathname, hash }: URL): boolean {
  try {
    decodeURIComponent(username + password);
  } catch {
    return false;
  }
  return !`${pathname}${hash}`.includes('@');
}

const isWebUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function webUrl(env: Environment, name: string): string | undefined {
  const value = text(env, name);
  // `localhost:3000` is a URL too, of the protocol `localhost:`.
  if (value !== undefined && !isWebUrl(value)) throw new Error(`${name} must be a URL that begins with http:// or https://.`);
  return value;
}

function upstreamsOf(env: Environment): Config['upstreams'] {
  return {
    prediction: known({ gamma: webUrl(env, 'PREDICTION_GAMMA_URL'), data: webUrl(env, 'PREDICTION_DATA_URL') }),
    perps: known({ info: webUrl(env, 'PERPS_INFO_URL'), archive: webUrl(env, 'PERPS_ARCHIVE_URL') }),
    lp: known({ rpc: webUrl(env, 'LP_RPC_URL'), dlmm: webUrl(env, 'LP_DLMM_URL'), damm: webUrl(env, 'LP_DAMM_URL') }),
  };
}

/** The names that have a value. */
function known(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter((pair): pair is [string, string] => pair[1] !== undefined));
}

/** What a variable lists, separated by commas; nothing where it is not set. */
const listed = (env: Environment, name: string): string[] =>
  (text(env, name) ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter(Boolean);

function urls(env: Environment, name: string): string[] {
  const list = listed(env, name);
  if (!list.every(isWebUrl))
    throw new Error(`${name} must be one URL that begins with http:// or https://, or several separated by commas.`);
  return list;
}

function accounts(env: Environment, name: string, fallback: string[]): string[] {
  if (text(env, name) === undefined) return fallback;
  const list = listed(env, name);
  const wrong = list.find((item) => !isBase58Address(item));
  if (wrong !== undefined) throw new Error(`${name} must be Solana addresses separated by commas, not "${wrong}".`);
  return list;
}

function clockOf(env: Environment): Clock {
  const value = text(env, 'CLOCK');
  if (value === undefined) return realClock;
  const at = instantOf(value);
  if (!isTold(at)) throw new Error(`CLOCK must be an ISO instant of 2018 to 2099, such as 2026-01-31T23:59:00Z, not "${value}".`);
  return standingClock(new Date(at));
}

/** Milliseconds of an ISO 8601 date or instant, UTC unless it says otherwise; NaN for anything else, and for days no calendar has. */
function instantOf(value: string): number {
  const [, day, time = 'T00:00', zone = 'Z'] = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(Z|[+-]\d\d:\d\d)?$/i.exec(value) ?? [];
  const midnight = Date.parse(`${day}T00:00Z`);
  // A 30th of February would be read as the 2nd of March.
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day ?? '');
  return exists ? Date.parse(`${day}${time}${zone}`.toUpperCase()) : Number.NaN;
}

function worldOf(env: Environment, sandbox: boolean): Config['world'] {
  const value = text(env, 'WORLD') ?? (sandbox ? 'small' : 'none');
  if (value === 'none') return false;
  const match = /^([a-z]+|\d+)(?::(\d+))?$/.exec(value);
  const size = match?.[1] === undefined ? undefined : (WORLD_SIZES[match[1]] ?? Number(match[1]));
  if (!match || size === undefined || !Number.isInteger(size) || size < 1_000 || size > 50_000_000) {
    throw new Error(
      `WORLD must be none, or a size (${Object.keys(WORLD_SIZES).join(', ')}, or 1000 to 50000000) with an optional seed such as small:7, not "${value}".`,
    );
  }
  return { size, seed: Number(match[2] ?? 1) };
}

function solanaOf(env: Environment): Config['solana'] {
  const rpcUrls = urls(env, 'SOLANA_RPC_URL');
  if (rpcUrls.length === 0) return false;
  const network = choice(env, 'SOLANA_NETWORK', ['mainnet', 'devnet']);
  const genesis = text(env, 'SOLANA_GENESIS_HASH') ?? (network === 'mainnet' ? MAINNET_GENESIS : DEVNET_GENESIS);
  return {
    rpc_urls: rpcUrls,
    pay_to: required(env, 'PAY_TO_SOLANA', 'the wallet that is paid on Solana'),
    network,
    genesis_hash: genesis === 'any' ? null : genesis,
    sponsor_key: text(env, 'SPONSOR_KEY') ?? false,
  };
}

function tempoOf(env: Environment): Config['tempo'] {
  const rpcUrls = urls(env, 'TEMPO_RPC_URL');
  if (rpcUrls.length === 0) return false;
  return {
    rpc_urls: rpcUrls,
    pay_to: required(env, 'PAY_TO_TEMPO', 'the address that is paid on Tempo'),
    chain_id: integer(env, 'TEMPO_CHAIN_ID', TEMPO_MAINNET, 1, Number.MAX_SAFE_INTEGER),
  };
}

/** A sandbox takes play money and fills its database with a simulated world: not where real money was meant to be taken. */
function checkNobodyIsPaid(env: Environment): void {
  for (const chain of ['SOLANA', 'TEMPO'])
    if (text(env, `PAY_TO_${chain}`) !== undefined)
      throw new Error(`${chain}_RPC_URL must be set where PAY_TO_${chain} is: without a chain the sandbox would start, with play money.`);
}

function secretsOf(env: Environment, sandbox: boolean): string[] {
  const secrets = listed(env, 'PAYMENT_SECRET');
  if (secrets.length === 0 && !sandbox)
    throw new Error(
      'PAYMENT_SECRET must be set outside the sandbox: at least 32 bytes; to rotate, put the new one first, separated by a comma.',
    );
  if (secrets.some((secret) => Buffer.byteLength(secret) < 32)) throw new Error('PAYMENT_SECRET must have at least 32 bytes.');
  return secrets;
}
