import { paymentSettings } from '../../src/cli/payments';
import { makeConfig } from '../../src/config';
import { ROOT } from '../support/root';

const SOLANA = { SOLANA_RPC_URL: 'https://rpc.example', PAY_TO_SOLANA: '11111111111111111111111111111112' };
const TEMPO = { TEMPO_RPC_URL: 'https://tempo.example', PAY_TO_TEMPO: `0x${'1'.repeat(40)}` };
const SHOP = { PAYMENT_SECRET: 'a secret of 32 bytes at the least', PUBLIC_URL: 'https://api.example:8443/' };
const settingsOf = (environment: Record<string, string>, sandbox: Parameters<typeof paymentSettings>[1] = null) =>
  paymentSettings(makeConfig(environment, ROOT), sandbox);

test('who sells is paid in the USDC of its networks, under the name by which it is reached', () => {
  expect(settingsOf({ ...SOLANA, ...TEMPO, ...SHOP, X402_BODY: 'v1' })).toMatchObject({
    realm: 'api.example:8443',
    body_mode: 'v1',
    secrets: [SHOP.PAYMENT_SECRET],
    solana: {
      pay_to: SOLANA.PAY_TO_SOLANA,
      genesis_hash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      mint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
      sponsor_key: false,
    },
    tempo: { pay_to: TEMPO.PAY_TO_TEMPO, chain_id: 4217, usdc: '0x20C000000000000000000000b9537d11c60E8b50' },
  });
  expect(settingsOf({ ...SOLANA, ...SHOP, SOLANA_NETWORK: 'devnet' })).toMatchObject({
    solana: { genesis_hash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG', mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
    tempo: false,
  });
  expect(settingsOf({ ...TEMPO, ...SHOP }).solana).toBe(false);
});

test('the sandbox signs with the secret that is configured, else with its own', () => {
  const sandbox = { solana: false, tempo: false, secrets: ['made by the sandbox'] } as const;
  const made = { ...sandbox, secrets: [...sandbox.secrets] };
  expect(settingsOf({}, made)).toMatchObject({ realm: 'localhost', secrets: ['made by the sandbox'] });
  expect(settingsOf({ PAYMENT_SECRET: SHOP.PAYMENT_SECRET }, made).secrets).toEqual([SHOP.PAYMENT_SECRET]);
});
