import type { PoolClient } from 'pg';
import { ensureMonths } from '../../../src/venues/lp/store/insert';
import { KnownCatalogue } from '../../../src/venues/lp/store/known';
import { barePool, type TokenRow } from '../../../src/venues/lp/store/rows';

const token = (decimals: number | null, more: Partial<TokenRow> = {}): TokenRow => ({
  mint: 'mint',
  symbol: null,
  name: null,
  decimals,
  quality: 0,
  ...more,
});

test('a token is said until its decimals are, and whenever a list names it', () => {
  const known = new KnownCatalogue();
  expect(known.newTokens([token(null), token(null)])).toEqual([token(null)]);
  expect(known.newTokens([token(6)])).toEqual([token(6)]);
  expect(known.newTokens([token(6), token(null)])).toEqual([]);
  const named = token(6, { symbol: 'A', quality: 3 });
  expect(known.newTokens([named, named])).toEqual([named, named]);
});

test('a pool is said once, then what is new of it; records of catalogues, births and reserves always', () => {
  const known = new KnownCatalogue();
  const pool = barePool('pool', 'dlmm');
  expect(known.newPools([pool, pool])).toEqual([pool]);
  const tokens = { ...pool, mint_x: 'x', mint_y: 'y' };
  expect(known.newPools([tokens, tokens, pool])).toEqual([tokens]);
  expect(known.newPools([{ ...pool, mint_x: 'other' }])).toHaveLength(1);
  const at = new Date('2026-01-01');
  for (const told of [{ catalogued: true }, { created_at: at }, { reserve_at: at }, { as_of: at }]) {
    const row = { ...pool, ...told };
    expect(known.newPools([row, row])).toEqual([row, row]);
  }
});

test('months of each table are made once a transaction', async () => {
  const asked: unknown[] = [];
  const client = { query: async ({ values }: { values: unknown }) => void asked.push(values) } as unknown as PoolClient;
  const { months } = new KnownCatalogue();
  const [january, february] = [new Date('2026-01-31T23:00:00Z'), new Date('2026-02-01T00:00:00Z')];
  await ensureMonths(client, { lp_event: [january], lp_swap: [january] }, months);
  await ensureMonths(client, { lp_event: [january, february], lp_reward: [] }, months);
  await ensureMonths(client, { lp_swap: [january] }, months);
  await ensureMonths(client, { lp_swap: [january] });
  expect(asked).toEqual([
    [
      ['lp_event', 'lp_swap'],
      ['2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ],
    [['lp_event'], ['2026-02-01T00:00:00Z']],
    [['lp_swap'], ['2026-01-01T00:00:00Z']],
  ]);
});
