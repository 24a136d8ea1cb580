import { Connection, PublicKey } from '@solana/web3.js';
import { createClient, http, parseAbi } from 'viem';
import { readContract } from 'viem/actions';
import { type BuyerProtocol, answers } from './buyer';
import { associatedTokenAddress } from '../chains/solana';
import { SOLANA_USDC } from './chains/solana-tokens';
import type { SandboxWallets, SolanaWallet, TempoWallet } from './wallets';

const ERC20 = parseAbi(['function balanceOf(address owner) view returns (uint256)']);

/**
 * Micro-USDC that the merchant holds on the chain a protocol pays on, asked of the chain itself. Throws Error when the sandbox
 * runs no Tempo chain or the chain cannot be reached.
 */
export async function merchantBalance({ solana, tempo }: SandboxWallets, protocol: BuyerProtocol): Promise<bigint> {
  if (protocol !== 'tempo') return reached(solana.rpc_url, onSolana(solana));
  if (tempo === null) throw new Error('The sandbox runs no Tempo chain here, so nothing can be bought by the tempo protocol.');
  return reached(tempo.rpc_url, onTempo(tempo));
}

async function onSolana({ pay_to, rpc_url }: SolanaWallet): Promise<bigint> {
  const account = new PublicKey(associatedTokenAddress(pay_to, SOLANA_USDC));
  const { value } = await new Connection(rpc_url, 'confirmed').getTokenAccountBalance(account);
  return BigInt(value.amount);
}

function onTempo({ pay_to, rpc_url, usdc }: TempoWallet): Promise<bigint> {
  const client = createClient({ transport: http(rpc_url) });
  return readContract(client, { address: usdc, abi: ERC20, functionName: 'balanceOf', args: [pay_to] });
}

/** What the chain at `url` is asked; where nothing answers there, in one sentence. */
function reached<T>(url: string, asked: Promise<T>): Promise<T> {
  return asked.catch(async (cause: Error) => {
    if (await answers(url)) throw cause;
    throw new Error(`The sandbox's chain cannot be reached at ${url}; npm start starts it.`, { cause });
  });
}
