import { type FacilitatorClient, HTTPFacilitatorClient } from '@x402/core/server';
import type { SupportedResponse } from '@x402/core/types';
import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import express from 'express';
import type { SolanaPaymentConfig } from '../../../src/payments/config';
import { listen } from '../../../src/gateway/server';
import { serve } from '../child';
import { NETWORK, stockFacilitator } from './stock-facilitator';

/** What both stock servers are told: where they sell, for how much, and the constant they answer. */
export interface StockSettings<Chain> {
  path: string;
  /** Micro-USDC. */
  amount: string;
  answer: unknown;
  chain: Chain;
  /** Address of the facilitator that x402 is settled by; null: it runs in the same process. */
  facilitator: string | null;
}

/** Called in place of a service: what the stock packages do not offer, and spares them two requests. */
async function inProcess(chain: SolanaPaymentConfig): Promise<FacilitatorClient> {
  const facilitator = await stockFacilitator(chain);
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: () => Promise.resolve(facilitator.getSupported() as SupportedResponse),
  };
}

/** The stock x402 server, set up as its README says. */
async function stockX402({ path, amount, answer, chain, facilitator }: StockSettings<SolanaPaymentConfig>): Promise<express.Express> {
  const client = facilitator === null ? await inProcess(chain) : new HTTPFacilitatorClient({ url: facilitator });
  const server = new x402ResourceServer(client).register(NETWORK, new ExactSvmScheme());
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
