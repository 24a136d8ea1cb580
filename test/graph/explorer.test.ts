import { getIntrospectionQuery } from 'graphql';
import { type Product, startProduct } from '../support/product';

let product: Product;
beforeAll(async () => {
  product = await startProduct();
}, 60_000);
afterAll(() => product.close());

async function ask(
  query: string,
  accept = 'application/json',
): Promise<{
  status: number;
  body: {
    data?: Record<string, unknown>;
    errors?: { message: string; extensions?: { code?: string } }[];
    extensions?: Record<string, unknown>;
  };
}> {
  const response = await fetch(`${product.internalUrl}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: accept },
    body: JSON.stringify({ query }),
  });
  return { status: response.status, body: (await response.json()) as never };
}

test('GraphiQL is served with everything it needs, from this machine alone', async () => {
  const page = await (await fetch(`${product.internalUrl}/graphql`, { headers: { Accept: 'text/html' } })).text();
  expect(page).toContain('Smart money explorer');
  // No script, style or font from elsewhere.
  expect([...page.matchAll(/<(?:script|link)[^>]+(?:src|href)="(https?:)?\/\//g)]).toEqual([]);
});

test('introspection works, whatever its depth', async () => {
  const { body } = await ask(getIntrospectionQuery());
  expect(body.errors).toBeUndefined();
});

test('queries nested too deep are refused, through fragments too', async () => {
  const deep = '{ tradesWhales { market { trades { market { trades { market { trades { market { question } } } } } } } } }';
  expect((await ask(deep)).body.errors?.map(({ message }) => message)).toContain('The query is nested deeper than 8 levels.');
  const split = `{ tradesWhales { ...a } } fragment a on PmTrade { market { trades { market { trades { ...b } } } } } fragment b on PmTrade { market { trades { market { question } } } }`;
  expect((await ask(split)).body.errors?.map(({ message }) => message)).toContain('The query is nested deeper than 8 levels.');
});

test('lists are bounded, mutations do not exist', async () => {
  expect((await ask('{ tradesWhales(timeframe: "7d", limit: 100000) { wallet } }')).body.errors?.[0]?.message).toContain(
    'limit must be 1 to 1000',
  );
  expect((await ask('mutation { pay }')).body.errors).toBeDefined();
});

test('errors for analysts carry our code, never a stack or SQL', async () => {
  const { body } = await ask('{ perpsTradesFeed(coin: "NOSUCH", limit: 5) { coin } }');
  expect(body.errors?.[0]).toMatchObject({ message: expect.any(String), extensions: { code: 'not_found' } });
  expect(JSON.stringify(body)).not.toMatch(/SELECT|node_modules/);
});
