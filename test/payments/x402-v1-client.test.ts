import { createSigner, decodeXPaymentResponse, wrapFetchWithPayment } from 'x402-fetch';
import { fundedBuyer, openTill, serveTill, type Till, walletsOf, workOf } from './till';

// The stock client of protocol version 1, as its package ships it.

describe('the stock x402-fetch 1.2', () => {
  let till: Till;
  beforeAll(async () => {
    till = await openTill({ sponsored: true, settings: { body_mode: 'v1' } });
  });
  afterAll(() => till.stop());

  /** A buyer's fetch that pays, and what it has left. */
  async function buyer(): Promise<{ pay: ReturnType<typeof wrapFetchWithPayment>; left(): Promise<bigint> }> {
    const key = await fundedBuyer(till);
    const { solana } = walletsOf(till, key);
    const signer = await createSigner('solana', solana.secret_key);
    const pay = wrapFetchWithPayment(fetch, signer, undefined, undefined, { svmConfig: { rpcUrl: solana.rpc_url } });
    return { pay, left: () => till.solana.usdcBalance(solana.address) };
  }

  /** One purchase from a shop whose work is `work`. */
  async function purchase(work: ReturnType<typeof workOf>, method = 'GET') {
    const { pay, left } = await buyer();
    const front = await serveTill(till.payments, () => work);
    try {
      const response = await pay(`${front.url}/api/v1/markets/trending?by=${method}`, { method });
      return {
        status: response.status,
        receipt: response.headers.get('X-PAYMENT-RESPONSE'),
        body: await response.json(),
        left: await left(),
      };
    } finally {
      await front.close();
    }
  }

  it.each(['GET', 'POST'])('buys by %s, unmodified, and reads its receipt', async (method) => {
    const { receipt, ...bought } = await purchase(workOf(), method);
    expect(bought).toEqual({ status: 200, body: { data: [1, 2, 3] }, left: 4_980_000n });
    expect(decodeXPaymentResponse(receipt as string)).toMatchObject({
      success: true,
      network: 'solana',
      transaction: expect.any(String),
    });
  });

  it('pays nothing for work that brings nothing', async () => {
    const bought = await purchase(workOf(() => Promise.reject(new Error('broken'))));
    expect(bought).toMatchObject({ status: 500, receipt: null, left: 5_000_000n });
  });
});
