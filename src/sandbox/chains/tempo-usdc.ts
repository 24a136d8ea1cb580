import { gunzipSync } from 'node:zlib';
import type { Account, Chain, Client, Hex, Transport } from 'viem';
import { Actions } from 'viem/tempo';
import { TEMPO_USDC } from '../../payments/assets';

/** pathUSD, the token validators take fees in; in genesis, 6 decimals. */
export const PATH_USD = '0x20c0000000000000000000000000000000000000';

/** Said outright: anvil's estimate for a Tempo transaction is too low for calls that create state. */
export const GAS = 5_000_000n;

const AMM_LIQUIDITY = 1_000_000_000n;

export type TempoClient = Client<Transport, Chain, Account>;

/** A call that viem has no type for (anvil's own methods). */
export function callAnvil(client: TempoClient, method: string, params: unknown[]): Promise<unknown> {
  return client.request({ method, params } as never);
}

interface DumpedAccount {
  code: Hex;
  storage: Record<string, string>;
}

async function dumpAccount(client: TempoClient, address: string): Promise<DumpedAccount> {
  const dump = (await callAnvil(client, 'anvil_dumpState', [])) as string;
  const state = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString('utf8')) as { accounts: Record<string, DumpedAccount> };
  const found = Object.entries(state.accounts).find(([key]) => key.toLowerCase() === address.toLowerCase());
  if (found === undefined) throw new Error(`anvil_dumpState does not hold the token ${address} that was just created.`);
  return found[1];
}

const word = (value: string): Hex => `0x${value.replace(/^0x/, '').padStart(64, '0')}`;

/**
 * Puts USDC.e at its mainnet address. That address comes from a salt nobody published, so a token is created at any address
 * and its code and storage are copied over; `client.account` becomes its admin and issuer. Then lets fees be paid in it.
 */
export async function createUsdc(client: TempoClient): Promise<void> {
  const { token } = await Actions.token.createSync(client, {
    name: 'USD Coin',
    symbol: 'USDC.e',
    currency: 'USD',
    admin: client.account,
    gas: GAS,
  });
  await Actions.token.grantRolesSync(client, { token, to: client.account.address, roles: ['issuer'], gas: GAS });
  const { code, storage } = await dumpAccount(client, token);
  await callAnvil(client, 'anvil_setCode', [TEMPO_USDC, code]);
  for (const [slot, value] of Object.entries(storage)) {
    await callAnvil(client, 'anvil_setStorageAt', [TEMPO_USDC, word(slot), word(value)]);
  }
  // A payer's fee is taken in the token it calls; without this pool its transactions are dropped in silence.
  await Actions.amm.mintSync(client, {
    userTokenAddress: TEMPO_USDC,
    validatorTokenAddress: PATH_USD,
    validatorTokenAmount: AMM_LIQUIDITY,
    to: client.account.address,
    gas: GAS,
  });
}
