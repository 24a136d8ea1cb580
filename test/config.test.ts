import fs from 'node:fs';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { makeConfig } from '../src/config';
import { ROOT } from './support/root';

const SECRET = 's'.repeat(32);
const production = { SOLANA_RPC_URL: 'https://a.example,https://b.example', PAY_TO_SOLANA: 'merchant', PAYMENT_SECRET: SECRET };

test('an empty environment is the sandbox', () => {
  expect(makeConfig({}, '/r')).toMatchObject({
    port: 3000,
    internalPort: 3001,
    sandbox: true,
    databaseUrl: false,
    dataDir: '/r/.data',
    world: { size: 30_000, seed: 1 },
    unpaidPerMinute: 300,
    emptyPerMinute: 30,
    queriesAtOnce: false,
  });
});

test('a configured chain is production: no world, secrets required', () => {
  expect(makeConfig(production, '/r')).toMatchObject({
    sandbox: false,
    world: false,
    solana: { rpc_urls: ['https://a.example', 'https://b.example'], network: 'mainnet' },
    tempo: false,
  });
  expect(() => makeConfig({ ...production, PAYMENT_SECRET: '' }, '/r')).toThrow('PAYMENT_SECRET must be set');
  expect(() => makeConfig({ ...production, PAYMENT_SECRET: 'short' }, '/r')).toThrow('32 bytes');
  expect(() => makeConfig({ ...production, PAY_TO_SOLANA: '' }, '/r')).toThrow('PAY_TO_SOLANA must be set');
});

test.each([
  [{ PORT: 'http' }, 'PORT must be a whole number from 0 to 65535, not "http".'],
  [{ CLOCK: 'noon' }, 'CLOCK must be an ISO instant'],
  [{ CLOCK: '2026-02-30T00:00:00Z' }, 'CLOCK must be an ISO instant'],
  [{ CLOCK: '5' }, 'CLOCK must be an ISO instant'],
  [{ CLOCK: '9999-01-01T00:00:00Z' }, 'CLOCK must be an ISO instant of 2018 to 2099'],
  [{ WORLD: 'huge' }, 'WORLD must be none, or a size'],
  [{ WORLD: '12' }, 'WORLD must be none, or a size'],
  [{ DATABASE_URL: 'my secret place' }, 'DATABASE_URL must be a URL that begins with postgresql:// or postgres://.'],
  [{ DATABASE_URL: 'localhost:5432' }, 'DATABASE_URL must be a URL that begins with postgresql:// or postgres://.'],
  ...['p@ss/word', '12#34', 'p%word'].map((password): [Record<string, string>, string] => [
    { DATABASE_URL: `postgresql://me:${password}@db.example/smart` },
    'DATABASE_URL must have what is special in its user and password percent-encoded, as %40 for @, %2F for /, %23 for # and %25 for %.',
  ]),
  [{ DATABASE_REPLICA_URL: 'http://replica:5432/db' }, 'DATABASE_REPLICA_URL must be a URL that begins with postgresql:// or postgres://.'],
  [{ PUBLIC_URL: 'localhost:3000' }, 'PUBLIC_URL must be a URL that begins with http:// or https://.'],
  [{ ...production, SOLANA_RPC_URL: 'localhost:8899' }, 'SOLANA_RPC_URL must be one URL that begins with http:// or https://'],
  [{ LP_RPC_URL: 'localhost:8899' }, 'LP_RPC_URL must be a URL that begins with http:// or https://.'],
  [{ LP_RPC_PER_SECOND: '0' }, 'LP_RPC_PER_SECOND must be a whole number from 1 to 1000000, not "0".'],
  [{ PAY_TO_SOLANA: 'merchant', PAYMENT_SECRET: SECRET }, 'SOLANA_RPC_URL must be set where PAY_TO_SOLANA is'],
  [{ PAY_TO_TEMPO: '0xmerchant' }, 'TEMPO_RPC_URL must be set where PAY_TO_TEMPO is'],
  [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be one of'],
])('%j is refused in one sentence', (env, sentence) => expect(() => makeConfig(env as Record<string, string>, '/r')).toThrow(sentence));

test.each([
  ['medium:7', { size: 300_000, seed: 7 }],
  ['5000', { size: 5_000, seed: 1 }],
  ['none', false],
])('WORLD=%s', (WORLD, world) => expect(makeConfig({ WORLD }, '/r').world).toEqual(world));

test.each([
  ['2026-01-31T23:59:00Z', '2026-01-31T23:59:00.000Z'],
  ['2024-02-29', '2024-02-29T00:00:00.000Z'],
  ['2026-01-31T23:59', '2026-01-31T23:59:00.000Z'],
  ['2026-01-31T23:59:00.5+02:00', '2026-01-31T21:59:00.500Z'],
])('the clock stands where CLOCK says: %s', (value, at) => expect(makeConfig({ CLOCK: value }, '/r').clock.now().toISOString()).toBe(at));

describe('.env.example', () => {
  const example = parseEnv(fs.readFileSync(path.join(ROOT, '.env.example'), 'utf8')) as Record<string, string>;

  test('documents every variable, and only those', () => {
    const source = fs.readFileSync(path.join(ROOT, 'src/config.ts'), 'utf8');
    const read = new Set([...source.matchAll(/(?:env, |env\.)'?([A-Z][A-Z_0-9]+)'?/g)].map((match) => match[1]));
    expect(Object.keys(example).sort()).toEqual([...read].sort());
  });

  // Nobody who copies it and names a chain sells answers about a simulated world.
  test.each([{}, production])('copied as it is, it changes nothing, beside %j', (own) => {
    expect(makeConfig({ ...example, ...own }, '/r')).toEqual(makeConfig(own, '/r'));
  });
});
