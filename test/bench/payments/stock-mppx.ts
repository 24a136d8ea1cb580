import express from 'express';
import { Mppx, tempo } from 'mppx/express';
import { createClient, formatUnits, http } from 'viem';
import { tempo as tempoChain } from 'viem/tempo/chains';
import type { TempoPaymentConfig } from '../../../src/payments/config';
import { listen } from '../../../src/gateway/server';
import { serve } from '../child';
import type { StockSettings } from './stock-x402';

/** The stock mppx server as its README sets it up: Express adapter, in-memory replay store. */
function stockMppx({ path, amount, answer, chain }: StockSettings<TempoPaymentConfig>): express.Express {
  const client = createClient({
    chain: { ...tempoChain, id: chain.chain_id as typeof tempoChain.id },
    transport: http(chain.rpc_urls[0] as string),
  });
  const method = tempo.charge({
    currency: chain.usdc as `0x${string}`,
    recipient: chain.pay_to as `0x${string}`,
    decimals: 6,
    getClient: () => client,
  });
  const mppx = Mppx.create({ methods: [method], realm: 'localhost', secretKey: 'a secret of the bench, long enough for anybody' });
  const app = express();
  app.get(path, mppx.charge({ amount: formatUnits(BigInt(amount), 6) }), (_request, response) => void response.json(answer));
  return app;
}

void serve<StockSettings<TempoPaymentConfig>, { url: string }>(async (settings) => {
  const listening = await listen(stockMppx(settings), 0, '127.0.0.1');
  return { ready: { url: `http://localhost:${listening.port}` }, stop: () => listening.stop(0) };
});
