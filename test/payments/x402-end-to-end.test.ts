import { buy } from '../../src/sandbox/buyer';
import { fundedBuyer, openTill, serveTill, type Till, walletsOf, workOf } from './till';

describe('x402 with the stock client on a real local Solana', () => {
  describe.each([
    { sponsored: true, named: false },
    { sponsored: false, named: true },
    { sponsored: false, named: false },
  ])('sponsored: $sponsored, the buyer names itself: $named', ({ sponsored, named }) => {
    let till: Till;
    beforeAll(async () => {
      till = await openTill({ sponsored });
    });
    afterAll(() => till.stop());

    it('pays the exact price, once, and gets the answer and a receipt', async () => {
      const buyer = await fundedBuyer(till);
      const work = workOf();
      const front = await serveTill(till.payments, () => work);
      const address = buyer.publicKey.toBase58();
      const headers: Record<string, string> = named ? { 'X-Payer': address } : {};
      const lamports = await till.solana.lamports(address);
      const bought = await buy(
        { method: 'GET', url: `${front.url}/api/v1/markets/trending`, protocol: 'x402', headers },
        walletsOf(till, buyer),
      );
      await front.close();

      expect(bought.status).toBe(200);
      expect(JSON.parse(bought.body)).toEqual({ data: [1, 2, 3] });
      expect(bought.receipt).toMatchObject({
        success: true,
        payer: address,
        amount: '20000',
        network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
      });
      expect(bought.headers['x-payment-response']).toBe(bought.headers['payment-response']);
      expect(work.runs()).toBe(1);
      expect(await till.solana.usdcBalance(address)).toBe(4_980_000n);
      expect(await till.solana.usdcBalance(till.merchant.publicKey.toBase58())).toBe(20_000n);
      // 5,000 lamports a signature and 1 for the compute price.
      expect(lamports - (await till.solana.lamports(address))).toBe(sponsored ? 0n : 5_001n);
      expect(1_000_000_000n - (await till.solana.lamports(till.sponsor.publicKey.toBase58()))).toBe(sponsored ? 10_001n : 0n);
    });
  });
});
