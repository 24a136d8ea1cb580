import { Connection, PublicKey } from '@solana/web3.js';
import { createClient, http, parseAbi } from 'viem';
import { readContract } from 'viem/actions';
import type { BuyerProtocol } from './buyer';
import { SOLANA_USDC, associatedTokenAccount } from './chains/solana-tokens';
import type { SandboxWallets } from './wallets';

const ERC20 = parseAbi(['function balanceOf(address owner) view returns (uint256)']);

/**
 * Micro-USDC that the merchant holds on the chain a protocol pays on, asked of the chain itself. Throws Error when the sandbox
 * runs no Tempo chain or the chain cannot be reached.
 */
export async function merchantBalance({ solana, tempo }: SandboxWallets, protocol: BuyerProtocol): Promise<bigint> {
  if (protocol !== 'tempo') {
    const account = new PublicKey(associatedTokenAccount(solana.pay_to, SOLANA_USDC));
    const { value } = await new Connection(solana.rpc_url, 'confirmed').getTokenAccountBalance(account);
    return BigInt(value.amount);
  }
  if (tempo === null) throw new Error('The sandbox runs no Tempo chain here, so nothing can be bought by the tempo protocol.');
  const client = createClient({ transport: http(tempo.rpc_url) });
  return readContract(client, { address: tempo.usdc, abi: ERC20, functionName: 'balanceOf', args: [tempo.pay_to] });
}
