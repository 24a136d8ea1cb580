import { createKeyPairSignerFromBytes } from '@solana/kit';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorSvmSigner } from '@x402/svm';
import { registerExactSvmScheme } from '@x402/svm/exact/facilitator';
import bs58 from 'bs58';
import express from 'express';
import { listen } from '../../../src/gateway/server';
import type { SolanaPaymentConfig } from '../../../src/payments/config';
import { serve } from '../child';

export const NETWORK = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** The stock facilitator: it verifies payments, pays their network fee and broadcasts them. */
export async function stockFacilitator(chain: SolanaPaymentConfig): Promise<x402Facilitator> {
  const sponsor = await createKeyPairSignerFromBytes(bs58.decode(chain.sponsor_key as string));
  const signer = toFacilitatorSvmSigner(sponsor, { defaultRpcUrl: chain.rpc_urls[0] as string });
  return registerExactSvmScheme(new x402Facilitator(), { signer, networks: NETWORK });
}

interface Asked {
  paymentPayload: PaymentPayload;
  paymentRequirements: PaymentRequirements;
}

/** The facilitator as a service: the three paths that `HTTPFacilitatorClient` asks. */
async function facilitatorService(chain: SolanaPaymentConfig): Promise<express.Express> {
  const facilitator = await stockFacilitator(chain);
  const app = express();
  app.use(express.json());
  const told =
    (ask: (asked: Asked) => Promise<unknown>): express.RequestHandler =>
    (request, response, next) =>
      void ask(request.body as Asked).then((answer) => response.json(answer), next);
  app.post(
    '/verify',
    told(({ paymentPayload, paymentRequirements }) => facilitator.verify(paymentPayload, paymentRequirements)),
  );
  app.post(
    '/settle',
    told(({ paymentPayload, paymentRequirements }) => facilitator.settle(paymentPayload, paymentRequirements)),
  );
  app.get('/supported', (_request, response) => void response.json(facilitator.getSupported()));
  return app;
}

if (require.main === module)
  void serve<SolanaPaymentConfig, { url: string }>(async (chain) => {
    const listening = await listen(await facilitatorService(chain), 0, '127.0.0.1');
    return { ready: { url: `http://localhost:${listening.port}` }, stop: () => listening.stop(0) };
  });
