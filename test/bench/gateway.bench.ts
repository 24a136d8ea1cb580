import { buy } from '../../src/sandbox/buyer';
import { type Product, startProduct } from '../support/product';
import { loadWorld } from '../support/world';
import { type Figure, figure, latencies, printTable, timed } from './measure';

const START = new Date('2026-02-01T00:00:00Z');
const NOW = '2026-02-03T00:00:00Z';
const PATH = '/api/v1/perps/trades/whales?min_usd=1000';

let product: Product;
beforeAll(async () => {
  product = await startProduct({}, NOW);
  await loadWorld(product.pool, 'perps', 30_000, START, new Date(NOW));
}, 120_000);
afterAll(() => product.close());

test('one request, unpaid and paid', async () => {
  const url = `${product.publicUrl}${PATH}`;
  const unpaid = async (): Promise<void> => void (await (await fetch(url)).text());
  const paid = (protocol: 'x402' | 'tempo' | 'solana') => async (): Promise<void> => {
    const bought = await buy({ method: 'GET', url, protocol }, product.wallets);
    if (bought.status !== 200) throw new Error(bought.body);
  };
  const rows: Figure[] = [];
  const measure = async (what: string, count: number, concurrent: number, run: () => Promise<void>): Promise<void> => {
    await latencies(Math.min(20, count), concurrent, run);
    const { result, seconds } = await timed(() => latencies(count, concurrent, run));
    rows.push(figure(what, result, seconds));
  };
  await measure('unpaid: 402 in three protocols', 1_000, 1, unpaid);
  await measure('unpaid, 16 at once', 2_000, 16, unpaid);
  for (const protocol of ['x402', 'tempo', 'solana'] as const)
    await measure(`paid by ${protocol}: 402, sign, execute, settle (stock client and local chain included)`, 100, 1, paid(protocol));
  await measure('paid by x402, 8 at once', 200, 8, paid('x402'));
  printTable('The gateway, one process, answers from the 5 s cache', rows);
});
