import fc from 'fast-check';
import { type HistoryRow, type MarketFacts, realizedGains, setPrices } from '../../../../src/venues/prediction/positions/average-cost';
import { fixed, plain } from '../../../../src/venues/prediction/positions/fixed';

let made = 0;
const row = (side: HistoryRow['side'], token_id: string | null, size: string, usdc_size: string, second: number): HistoryRow => ({
  trade_id: `t${String((made += 1)).padStart(6, '0')}`,
  side,
  token_id,
  size,
  usdc_size,
  timestamp: new Date(second * 1_000),
});

const facts = (more: Partial<MarketFacts> = {}): MarketFacts => ({ tokens: ['y', 'n'], payouts: null, set_prices: new Map(), ...more });
const gainsOf = (rows: HistoryRow[], more?: Partial<MarketFacts>): (string | undefined)[] => {
  const gains = realizedGains([...rows].reverse(), facts(more));
  return rows.map((one) => gains.get(one.trade_id));
};

describe('gains at average cost', () => {
  test('buys are averaged, a sale leaves the average as it is', () => {
    // 100 at 0.5 and 300 at 0.6: 0.575 on average.
    expect(
      gainsOf([
        row('BUY', 'y', '100', '50', 1),
        row('BUY', 'y', '300', '180', 2),
        row('SELL', 'y', '200', '130', 3),
        row('SELL', 'y', '200', '100', 4),
      ]),
    ).toEqual([undefined, undefined, '15', '-15']);
  });

  test('in one second shares come before they go', () => {
    expect(gainsOf([row('SELL', 'y', '10', '6', 1), row('BUY', 'y', '10', '5', 1)])).toEqual(['1', undefined]);
  });

  test('a sale of shares that were never seen to come has no gain, nor has what follows it on nothing', () => {
    expect(gainsOf([row('BUY', 'y', '10', '5', 1), row('SELL', 'y', '11', '6', 2), row('SELL', 'y', '1', '1', 3)])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('a split buys every outcome at its set price, a merge gives them back', () => {
    const rows = [
      row('SPLIT', null, '100', '100', 1),
      row('SELL', 'y', '50', '40', 2),
      row('MERGE', null, '50', '50', 3),
      row('SELL', 'n', '50', '10', 4),
    ];
    const set_prices = new Map([
      [
        (rows[0] as HistoryRow).trade_id,
        new Map([
          ['y', '0.7'],
          ['n', '0.3'],
        ]),
      ],
    ]);
    // 50 yes cost 35, the merge takes 50 of each, 50 no are left at 0.3.
    expect(gainsOf(rows, { set_prices })).toEqual([undefined, '5', undefined, '-5']);
  });

  test('redemptions: winners by number, losers and refunds whole, unresolved unknown', () => {
    const rows = [
      row('BUY', 'y', '100', '60', 1),
      row('BUY', 'n', '40', '20', 2),
      row('REDEEM', null, '100', '100', 3),
      row('REDEEM', null, '0', '0', 4),
    ];
    expect(
      gainsOf(rows, {
        payouts: new Map([
          ['y', '1'],
          ['n', '0'],
        ]),
      }),
    ).toEqual([undefined, undefined, '40', '-20']);
    expect(
      gainsOf(rows.slice(0, 3), {
        payouts: new Map([
          ['y', '0.5'],
          ['n', '0.5'],
        ]),
      }),
    ).toEqual([undefined, undefined, '20']);
    expect(gainsOf(rows)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('a refund taken in parts bears its part of the cost', () => {
    const rows = [
      row('BUY', 'y', '60', '40', 1),
      row('BUY', 'n', '40', '20', 2),
      row('REDEEM', null, '25', '12.5', 3),
      row('REDEEM', null, '75', '37.5', 4),
      row('REDEEM', null, '1', '0.5', 5),
    ];
    const payouts = new Map([
      ['y', '0.5'],
      ['n', '0.5'],
    ]);
    expect(gainsOf(rows, { payouts })).toEqual([undefined, undefined, '-2.5', '-7.5', undefined]);
  });

  test('a conversion takes shares at their average cost, before sales of its second', () => {
    expect(gainsOf([row('BUY', 'n', '10', '5', 1), row('SELL', 'n', '1', '1', 2), row('CONVERSION', 'n', '5', '2.5', 2), row('SELL', 'n', '5', '3', 3)])).toEqual([undefined, '0.5', undefined, undefined]); // prettier-ignore
  });

  test('set prices add up to 1', () => {
    const prices = (...last: [string, string][]): Record<string, string> => Object.fromEntries(setPrices(['y', 'n'], new Map(last)));
    expect(prices()).toEqual({ y: '0.5', n: '0.5' });
    expect(prices(['y', '0.8'])).toEqual({ y: '0.8', n: '0.2' });
    expect(prices(['y', '0.6'], ['n', '0.6'])).toEqual({ y: '0.5', n: '0.5' });
    expect(prices(['y', '0.3'], ['n', '0.1'])).toEqual({ y: '0.75', n: '0.25' });
    expect(Object.fromEntries(setPrices(['a', 'b', 'c'], new Map([['a', '0.4']])))).toEqual({ a: '0.4', b: '0.3', c: '0.3' });
  });

  test('whatever is bought and sold, gains are cash out less cash in once all is gone', () => {
    const trades = fc.array(
      fc.record({ size: fc.integer({ min: 1, max: 1e9 }), cents: fc.integer({ min: 1, max: 99 }), buy: fc.boolean() }),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(trades, (list) => {
        let held = 0n;
        let cash = 0n;
        const rows: HistoryRow[] = [];
        const push = (side: 'BUY' | 'SELL', size: bigint, cents: bigint): void => {
          held += side === 'BUY' ? size : -size;
          cash += side === 'BUY' ? -size * cents : size * cents;
          rows.push(row(side, 'y', plain(size * 10n ** 12n), plain(size * cents * 10n ** 10n), rows.length));
        };
        for (const { size, cents, buy } of list) {
          if (buy) push('BUY', BigInt(size), BigInt(cents));
          else if (held > 0n) push('SELL', BigInt(size) < held ? BigInt(size) : held, BigInt(cents));
        }
        if (held > 0n) push('SELL', held, 50n);
        const sum = [...realizedGains(rows, facts()).values()].reduce((total, gain) => total + fixed(gain), 0n);
        expect(sum).toBe(cash * 10n ** 10n);
      }),
    );
  });

  test('amounts are exact both ways', () => {
    fc.assert(fc.property(fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }), (amount) => expect(fixed(plain(amount))).toBe(amount)));
    expect([plain(fixed('0.1') + fixed('0.2')), plain(fixed('-3')), plain(0n), fixed('1.0000000000000000019')]).toEqual([
      '0.3',
      '-3',
      '0',
      1_000_000_000_000_000_001n,
    ]);
    expect(() => fixed('1e5')).toThrow('Not a plain decimal');
  });
});
