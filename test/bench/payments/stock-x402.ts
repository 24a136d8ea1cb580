import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import type { SupportedResponse } from '@x402/core/types';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import bs58 from 'bs58';
import express from 'express';
import type { SolanaPaymentConfig } from '../../../src/payments/config';
import { listen } from '../../../src/gateway/server';
import { serve } from './child';

/** What both stock servers are told: where they sell, for how much, and the constant they answer. */
export interface StockSettings<Chain> {
  path: string;
  /** Micro-USDC. */
  amount: string;
  answer: unknown;
  chain: Chain;
}

const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** The stock x402 server as its README sets it up, with a facilitator in the same process: no HTTP between the two. */
async function stockX402({ path, amount, answer, chain }: StockSettings<SolanaPaymentConfig>): Promise<express.Express> {
  const sponsor = await createKeyPairSignerFromBytes(bs58.decode(chain.sponsor_key as string));
  const signer = toFacilitatorSvmSigner(sponsor, { defaultRpcUrl: chain.rpc_urls[0] as string });
  const facilitator = registerExactSvmScheme(new x402Facilitator(), { signer, networks: NETWORK });
  const server = new x402ResourceServer({
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: () => Promise.resolve(facilitator.getSupported() as SupportedResponse),
  }).register(NETWORK, new ExactSvmScheme());
  const price = { asset: chain.mint, amount };
  const accepts = { scheme: 'exact', network: NETWORK, payTo: chain.pay_to, price, maxTimeoutSeconds: 90 } as const;
  const app = express();
  app.use(paymentMiddleware({ [`GET ${path}`]: { accepts, description: 'Platform-wide stats', mimeType: 'application/json' } }, server));
  app.get(path, (_request, response) => void response.json(answer));
  return app;
}

void serve<StockSettings<SolanaPaymentConfig>, { url: string }>(async (settings) => {
  const listening = await listen(await stockX402(settings), 0, '127.0.0.1');
  return { ready: { url: `http://localhost:${listening.port}` }, stop: () => listening.stop(0) };
});
