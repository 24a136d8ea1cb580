import fc from 'fast-check';
import { jsonPieces } from '../../src/lib/json-pieces';

const written = (value: unknown): string => jsonPieces(value).join('');

describe('jsonPieces', () => {
  it('writes any value as JSON.stringify does', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => written(value) === JSON.stringify(value)));
  });

  it('writes instants, names to be escaped, what is not there and what JSON has no word for', () => {
    const value = { at: new Date(0), 'a "name"': [undefined, NaN, { inner: undefined, kept: null }], left: undefined, none: {}, empty: [] };
    expect(written(value)).toBe(JSON.stringify(value));
    expect(written(value.at)).toBe(JSON.stringify(value.at));
  });

  it('keeps pieces short, wherever the long list is', () => {
    const row = { address: 'a'.repeat(400), figures: [1.5, null, 'é€'] };
    const rows = Array.from({ length: 1_000 }, (_, place) => ({ place, ...row }));
    for (const value of [rows, { data: rows, meta: { count: 1_000 } }, { data: { summary: { total: 1 }, rows }, meta: {} }]) {
      const pieces = jsonPieces(value);
      expect(pieces.join('')).toBe(JSON.stringify(value));
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(65_536);
    }
  });
});
