// Buys every endpoint from a running sandbox with stock clients: `npm run sweep [-- x402|tempo|solana …]`.
// Prints path, protocol, price, status, rows and milliseconds; exit code 1 when anything but data or an honest 404 or 501 came back.
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');
const { loadCatalogue } = require(path.join(root, 'dist/app.js'));
const { sampleInput } = require(path.join(root, 'dist/endpoints/json-schema.js'));
const { buy } = require(path.join(root, 'dist/sandbox/buyer.js'));
const wallets = JSON.parse(fs.readFileSync(path.join(root, '.sandbox/wallets.json'), 'utf8'));

const base = `http://localhost:${process.env.PORT ?? 3000}`;
const protocols = process.argv.length > 2 ? process.argv.slice(2) : ['x402', 'tempo', 'solana'];

/** Length of the answer's longest list, or 1. */
function rowsOf(data) {
  if (Array.isArray(data)) return data.length;
  const lists = Object.values(data ?? {}).filter(Array.isArray);
  return lists.length > 0 ? Math.max(...lists.map((list) => list.length)) : 1;
}

async function main() {
  let bad = 0;
  for (const { endpoint } of loadCatalogue(root).paid) {
    const sample = sampleInput(endpoint);
    const query =
      endpoint.method === 'GET' ? new URLSearchParams(Object.entries(sample).map(([name, value]) => [name, String(value)])).toString() : '';
    for (const protocol of protocols) {
      const started = performance.now();
      const bought = await buy(
        {
          method: endpoint.method,
          url: `${base}${endpoint.path}${query ? `?${query}` : ''}`,
          body: endpoint.method === 'POST' ? sample : undefined,
          protocol,
        },
        wallets,
      );
      const body = JSON.parse(bought.body);
      const told = bought.status === 200 ? `$${body.meta.price_usd} ${rowsOf(body.data)} rows` : body.code;
      console.log(
        `${endpoint.path.padEnd(46)} ${protocol.padEnd(7)} ${bought.status} ${told.padEnd(20)} ${Math.round(performance.now() - started)} ms`,
      );
      if (![200, 404, 501].includes(bought.status)) bad += 1;
    }
  }
  console.log(`${bad} unexpected`);
  process.exit(bad === 0 ? 0 : 1);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
