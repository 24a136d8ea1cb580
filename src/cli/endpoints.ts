import { loadCatalogue } from '../catalogue';
import { priceRange } from '../pricing/catalog';
import { usd } from '../pricing/tiers';
import { type Command, parseOptions } from './command';

/** Lists everything sold, with default, lowest and highest price. */
export const command: Command = async (args, { root }) => {
  parseOptions(args, [], 'npm run endpoints');
  for (const endpoint of loadCatalogue(root).endpoints) {
    const price = priceRange(endpoint);
    const range = [price.default, price.cheapest, price.dearest].map((micro) => usd(micro).padEnd(8)).join(' ');
    process.stdout.write(`${endpoint.method.padEnd(4)} ${endpoint.path.padEnd(44)} ${range} ${endpoint.summary}\n`);
  }
  return 0;
};
