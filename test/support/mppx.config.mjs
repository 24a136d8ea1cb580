// What the stock command line of mppx pays with in tests: the sandbox's Tempo wallet, handed over as JSON.
import { tempo } from 'mppx/client';
import { createClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { tempo as chain } from 'viem/tempo/chains';

const { private_key, chain_id, rpc_url } = JSON.parse(process.env.TEMPO_WALLET ?? '{}');
const getClient = () => createClient({ chain: { ...chain, id: chain_id }, transport: http(rpc_url) });

export default { methods: [tempo.charge({ account: privateKeyToAccount(private_key), getClient })] };
