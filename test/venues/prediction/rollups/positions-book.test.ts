import fc from 'fast-check';
import { fixed, plain } from '../../../../src/venues/prediction/positions/fixed';
import { Book, type BookMarket } from '../../../../src/venues/prediction/rollups/positions-book';
import type { BookFact } from '../../../../src/venues/prediction/rollups/positions-facts';
import type { PositionRow } from '../../../../src/venues/prediction/rollups/positions-row';

const T0 = Date.UTC(2026, 2, 1);
const at = (second: number): Date => new Date(T0 + second * 1_000);

let made = 0;
function fact(
  side: string,
  market: string,
  token: string | null,
  size: string,
  usdc: string,
  second: number,
  tx: string | null = null,
): BookFact {
  made += 1;
  return {
    trade_id: `t${String(made).padStart(8, '0')}`,
    wallet: 'w',
    condition_id: market,
    token_id: token,
    side,
    size,
    usdc_size: usdc,
    timestamp: at(second),
    tx_hash: tx ?? `tx${made}`,
  };
}

const market = (id: string, more: Partial<BookMarket> = {}): BookMarket => ({
  condition_id: id,
  neg_risk_id: null,
  tokens: [`${id}y`, `${id}n`],
  resolved_at: null,
  is_voided: false,
  payouts: null,
  ...more,
});

const resolved = (id: string, second: number, winner: 'y' | 'n' | 'void', more: Partial<BookMarket> = {}): BookMarket => {
  const pays = (side: 'y' | 'n'): string => (winner === 'void' ? '0.5' : winner === side ? '1' : '0');
  return market(id, {
    resolved_at: at(second),
    is_voided: winner === 'void',
    payouts: new Map([[`${id}y`, pays('y')], [`${id}n`, pays('n')]]), // prettier-ignore
    ...more,
  });
};

const half = (rows: readonly BookFact[]): Map<string, Map<string, string>> =>
  new Map(rows.filter(({ side }) => side === 'SPLIT' || side === 'MERGE').map((row) => [row.trade_id, new Map([[`${row.condition_id}y`, '0.6'], [`${row.condition_id}n`, '0.4']])])); // prettier-ignore

function positionsOf(markets: BookMarket[], rows: BookFact[], prices = half(rows)): Record<string, PositionRow> {
  return Object.fromEntries(new Book('w', markets).run(rows, prices).rows().map((row) => [row.token_id, row])); // prettier-ignore
}

const shown = ({ status, shares, cost, paid_usdc, received_usdc, payout_usdc, gain }: PositionRow): unknown => ({ status, shares, cost, paid: paid_usdc, received: received_usdc, payout: payout_usdc, gain }); // prettier-ignore

describe('positions at average cost', () => {
  test('bought twice, sold in part, resolved', () => {
    // 400 shares for 230: 0.575 each. 200 sold for 130 gain 15; 200 that cost 115 pay 200.
    const rows = [
      fact('BUY', 'a', 'ay', '100', '50', 1),
      fact('BUY', 'a', 'ay', '300', '180', 2),
      fact('SELL', 'a', 'ay', '200', '130', 3),
    ];
    expect(shown(positionsOf([market('a')], rows).ay as PositionRow)).toEqual({ status: 'open', shares: '200', cost: '115', paid: '230', received: '130', payout: '0', gain: '15' }); // prettier-ignore
    const { ay } = positionsOf([resolved('a', 10, 'y')], rows);
    expect(shown(ay as PositionRow)).toEqual({ status: 'resolved', shares: '200', cost: '200', paid: '230', received: '130', payout: '200', gain: '100' }); // prettier-ignore
    expect([ay?.gain_sell, ay?.gain_resolution, ay?.closed_at, ay?.payout, ay?.settled_cost]).toEqual(['15', '85', at(10), '1', '115']);
    expect(shown(positionsOf([resolved('a', 10, 'n')], rows).ay as PositionRow)).toEqual({ status: 'resolved', shares: '200', cost: '0', paid: '230', received: '130', payout: '0', gain: '-100' }); // prettier-ignore
    expect(shown(positionsOf([resolved('a', 10, 'void')], rows).ay as PositionRow)).toEqual({ status: 'voided', shares: '200', cost: '100', paid: '230', received: '130', payout: '100', gain: '0' }); // prettier-ignore
  });

  test('sold out before resolution it stays closed, bought again it is open', () => {
    const rows = [fact('BUY', 'a', 'ay', '10', '4', 1), fact('SELL', 'a', 'ay', '10', '6', 2)];
    const { ay } = positionsOf([resolved('a', 10, 'n')], rows);
    expect([ay?.status, ay?.closed_at, ay?.gain, ay?.payout]).toEqual(['closed', at(2), '2', '0']);
    const again = positionsOf([market('a')], [...rows, fact('BUY', 'a', 'ay', '5', '1', 3)]).ay as PositionRow;
    expect([again.status, again.closed_at, again.gain, again.cost, again.opened_at]).toEqual(['open', null, '2', '1', at(1)]);
  });

  test('an outcome without a price is split for nothing: no digit that division leaves', () => {
    const three = resolved('a', 10, 'y', { tokens: ['ay', 'an', 'az'], payouts: new Map([['ay', '0'], ['an', '1'], ['az', '0']]) }); // prettier-ignore
    const split = fact('SPLIT', 'a', null, '10', '10', 1);
    const prices = new Map([[split.trade_id, new Map([['ay', '0.7'], ['an', '0.6'], ['az', '0']])]]); // prettier-ignore
    const { ay, an, az } = positionsOf([three], [split], prices) as Record<'ay' | 'an' | 'az', PositionRow>;
    expect([az.paid_shares, az.paid_usdc, az.gain]).toEqual(['10', '0', '0']);
    expect(fixed(ay.paid_usdc) + fixed(an.paid_usdc)).toBe(fixed('10'));
  });

  test('a split buys both outcomes at their prices, a merge sells both', () => {
    const rows = [
      fact('SPLIT', 'a', null, '100', '100', 1),
      fact('SELL', 'a', 'an', '60', '30', 2),
      fact('MERGE', 'a', null, '40', '40', 3),
    ];
    const { ay, an } = positionsOf([market('a')], rows) as { ay: PositionRow; an: PositionRow };
    // Yes: 100 for 60, 40 merged for 24. No: 100 for 40, 60 sold for 30 (cost 24), 40 merged for 16.
    expect(shown(ay)).toEqual({ status: 'open', shares: '60', cost: '36', paid: '60', received: '24', payout: '0', gain: '0' });
    expect(shown(an)).toEqual({ status: 'closed', shares: '0', cost: '0', paid: '40', received: '46', payout: '0', gain: '6' });
    // For as much as is told, which may be less than a dollar a set; of an outcome that was not seen to come none goes.
    const cheap = positionsOf([market('a')], [fact('SPLIT', 'a', null, '100', '90', 1)]);
    expect([cheap.ay?.cost, cheap.an?.cost]).toEqual(['54', '36']);
    const lone = positionsOf([market('a')], [fact('BUY', 'a', 'ay', '10', '6', 1), fact('MERGE', 'a', null, '4', '4', 2)]);
    expect([lone.ay?.shares, lone.an]).toEqual(['6', undefined]);
  });

  test('redemptions move no gain; they tell what is left', () => {
    const rows = [fact('BUY', 'a', 'ay', '10', '4', 1), fact('BUY', 'a', 'an', '3', '1', 1), fact('REDEEM', 'a', null, '7', '7', 20)];
    const one = positionsOf([resolved('a', 10, 'y')], rows);
    // The venue burns the shares that lost along with those that won.
    expect([one.ay?.redeemed_shares, one.ay?.gain, one.an?.redeemed_shares]).toEqual(['7', '6', '3']);
    const loser = positionsOf([resolved('a', 10, 'y')], [...rows.slice(0, 2), fact('REDEEM', 'a', null, '0', '0', 20)]);
    expect([loser.ay?.redeemed_shares, loser.an?.redeemed_shares]).toEqual(['0', '3']);
    const refund = positionsOf([resolved('a', 10, 'void')], [...rows.slice(0, 2), fact('REDEEM', 'a', null, '13', '6.5', 20)]);
    expect([refund.ay?.redeemed_shares, refund.an?.redeemed_shares, refund.ay?.status]).toEqual(['10', '3', 'voided']);
    const part = positionsOf([resolved('a', 10, 'void')], [...rows.slice(0, 2), fact('REDEEM', 'a', null, '2', '1', 20)]);
    expect([part.ay?.redeemed_shares, part.an?.redeemed_shares]).toEqual(['10', '3']);
    // No more than there was.
    const unseen = positionsOf([resolved('a', 10, 'y')], [...rows.slice(0, 2), fact('REDEEM', 'a', null, '12', '12', 20)]);
    expect(unseen.ay?.redeemed_shares).toBe('10');
  });

  test('what is sold after resolution gains against the payout', () => {
    const rows = [fact('BUY', 'a', 'ay', '10', '4', 1), fact('SELL', 'a', 'ay', '4', '3.8', 20), fact('BUY', 'a', 'ay', '1', '0.9', 30)];
    const { ay } = positionsOf([resolved('a', 10, 'y')], rows) as { ay: PositionRow };
    expect([ay.status, ay.shares, ay.gain_sell, ay.gain_resolution, ay.payout_usdc, ay.last_at]).toEqual([
      'resolved',
      '7',
      '-0.2',
      '6.1',
      '7',
      at(30),
    ]);
    // What is first bought then has ended as it is bought.
    expect(positionsOf([resolved('a', 10, 'y')], [fact('BUY', 'a', 'ay', '1', '0.9', 20)]).ay).toMatchObject({ status: 'resolved', closed_at: at(20), gain: '0.1' }); // prettier-ignore
  });

  test('shares given away that were not seen to come count nowhere', () => {
    const { ay } = positionsOf([market('a')], [fact('BUY', 'a', 'ay', '10', '4', 1), fact('SELL', 'a', 'ay', '15', '9', 2)]) as {
      ay: PositionRow;
    };
    expect([ay.gain, ay.received_shares, ay.received_usdc, ay.unseen_shares, ay.sell_usdc]).toEqual(['2', '10', '6', '5', '9']);
    const { ay: none } = positionsOf([market('a')], [fact('SELL', 'a', 'ay', '15', '9', 2)]) as { ay: PositionRow };
    expect([none.status, none.paid_shares, none.gain, none.trades]).toEqual(['closed', '0', '0', 1]);
  });

  test('a conversion of one No moves its cost to the Yes of the other markets by their prices', () => {
    const group = ['a', 'b', 'c'].map((id) => market(id, { neg_risk_id: 'g' }));
    const rows = [fact('BUY', 'a', 'an', '10', '6', 1), fact('CONVERSION', 'a', null, '10', '0', 2)];
    const prices = new Map([[(rows[1] as BookFact).trade_id, new Map([['ay', '0.4'], ['by', '0.4'], ['cy', '0.2']])]]); // prettier-ignore
    const positions = positionsOf(group, rows, prices);
    expect(shown(positions.an as PositionRow)).toEqual({ status: 'closed', shares: '0', cost: '0', paid: '6', received: '6', payout: '0', gain: '0' }); // prettier-ignore
    expect([positions.by?.shares, positions.by?.cost, positions.cy?.shares, positions.cy?.cost]).toEqual(['10', '4', '10', '2']);
    // Of ten six were seen to come.
    const some = positionsOf(group, [fact('BUY', 'a', 'an', '6', '3', 1), rows[1] as BookFact], prices);
    expect([some.an?.unseen_shares, some.by?.shares, some.by?.cost]).toEqual(['4', '6', '2']);
  });

  test('a conversion of two No brings cash: what of the cost falls on it is realized', () => {
    const group = ['a', 'b', 'c'].map((id) => market(id, { neg_risk_id: 'g' }));
    const rows = [
      fact('BUY', 'a', 'an', '10', '6', 1),
      fact('BUY', 'b', 'bn', '10', '6', 1),
      fact('CONVERSION', 'a', null, '10', '0', 2, 'one'),
      fact('CONVERSION', 'b', null, '10', '0', 2, 'one'),
    ];
    const prices = new Map(rows.slice(2).map((row) => [row.trade_id, new Map([['ay', '0.4'], ['by', '0.35'], ['cy', '0.25']])])); // prettier-ignore
    const { an, bn, cy } = positionsOf(group, rows, prices) as Record<string, PositionRow>;
    // 12 of cost stand for 10 in cash and 10 Yes at 0.25: four fifths are realized, 10 − 9.6; the rest is what the Yes shares cost.
    expect([total([an, bn].map((row) => (row as PositionRow).gain_conversion)), cy?.cost, cy?.shares]).toEqual(['0.4', '2.4', '10']);
    // Where it is told how much cash it was, three quarters.
    const told = positionsOf(group, rows.map((row, place) => (place === 2 ? { ...row, usdc_size: '7.5' } : row)), prices); // prettier-ignore
    expect([total([told.an, told.bn].map((row) => (row as PositionRow).gain_conversion)), told.cy?.cost]).toEqual(['-1.5', '3']);
  });

  test('conversions of one transaction that tell other sizes, or one market again, are conversions of their own', () => {
    const group = ['a', 'b', 'c'].map((id) => market(id, { neg_risk_id: 'g' }));
    const bought = [fact('BUY', 'a', 'an', '20', '12', 1), fact('BUY', 'b', 'bn', '20', '12', 1)];
    const sharesAfter = (...given: [string, string][]): Record<string, string> => {
      const rows = given.map(([id, size]) => fact('CONVERSION', id, null, size, '0', 2, 'one'));
      const prices = new Map(rows.map((row) => [row.trade_id, new Map([['ay', '0.4'], ['by', '0.35'], ['cy', '0.25']])])); // prettier-ignore
      return Object.fromEntries(
        Object.entries(positionsOf(group, [...bought, ...rows], prices)).map(([token, row]) => [token, row.shares]),
      );
    };
    expect(sharesAfter(['a', '10'], ['b', '5'])).toEqual({ an: '10', bn: '15', ay: '5', by: '10', cy: '15' });
    expect(sharesAfter(['a', '10'], ['a', '10'])).toEqual({ an: '0', bn: '20', by: '20', cy: '20' });
    // Of one size, and markets that differ: one conversion of both.
    expect(sharesAfter(['a', '10'], ['b', '10.0'])).toEqual({ an: '10', bn: '10', cy: '10' });
  });
});

const total = (amounts: readonly string[]): string => plain(amounts.reduce((sum, amount) => sum + fixed(amount), 0n));

interface Step {
  kind: number;
  market: number;
  side: number;
  size: number;
  cents: number;
}

const steps = fc.array(
  fc.record({
    kind: fc.integer({ min: 0, max: 9 }),
    market: fc.integer({ min: 0, max: 2 }),
    side: fc.integer({ min: 0, max: 1 }),
    size: fc.integer({ min: 1, max: 1e9 }),
    cents: fc.integer({ min: 1, max: 99 }),
  }),
  { minLength: 1, maxLength: 40 },
);

/** A believable history: nobody gives what they have not. Amounts in millionths. */
function history(list: readonly Step[]): { rows: BookFact[]; cash: bigint } {
  const held = new Map<string, bigint>();
  const have = (token: string): bigint => held.get(token) ?? 0n;
  const add = (token: string, size: bigint): void => void held.set(token, have(token) + size);
  const text = (amount: bigint): string => plain(amount * 10n ** 12n);
  const rows: BookFact[] = [];
  let cash = 0n;
  const push = (side: string, id: string, token: string | null, size: bigint, usdc: bigint, second: number): void => void rows.push(fact(side, id, token, text(size), text(usdc), second)); // prettier-ignore
  list.forEach(({ kind, market: index, side, size: raw, cents }, second) => {
    const id = 'abc'[index] as string;
    const [token, other] = side === 0 ? [`${id}y`, `${id}n`] : [`${id}n`, `${id}y`];
    const size = BigInt(raw);
    const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
    if (kind <= 4) {
      const usdc = (size * BigInt(cents)) / 100n;
      add(token, size);
      cash -= usdc;
      push('BUY', id, token, size, usdc, second);
    } else if (kind <= 6 && have(token) > 0n) {
      const sold = least(size, have(token));
      const usdc = (sold * BigInt(cents)) / 100n;
      add(token, -sold);
      cash += usdc;
      push('SELL', id, token, sold, usdc, second);
    } else if (kind === 7) {
      add(token, size);
      add(other, size);
      cash -= size;
      push('SPLIT', id, null, size, size, second);
    } else if (kind === 8) {
      const sets = least(size, least(have(token), have(other)));
      if (sets === 0n) return;
      add(token, -sets);
      add(other, -sets);
      cash += sets;
      push('MERGE', id, null, sets, sets, second);
    } else if (have(`${id}n`) > 0n) {
      const converted = least(size, have(`${id}n`));
      add(`${id}n`, -converted);
      for (const sibling of 'abc') if (sibling !== id) add(`${sibling}y`, converted);
      push('CONVERSION', id, null, converted, 0n, second);
    }
  });
  return { rows, cash: cash * 10n ** 12n };
}

const pricesOf = (rows: readonly BookFact[]): Map<string, Map<string, string>> =>
  new Map([...half(rows), ...rows.filter(({ side }) => side === 'CONVERSION').map((row) => [row.trade_id, new Map([['ay', '0.5'], ['by', '0.3'], ['cy', '0.2']])] as const)]); // prettier-ignore

const results = fc.array(fc.record({ after: fc.integer({ min: 0, max: 60 }), winner: fc.constantFrom('y' as const, 'n' as const, 'void' as const, 'open' as const) }), { minLength: 3, maxLength: 3 }); // prettier-ignore

const groupOf = (given: readonly { after: number; winner: 'y' | 'n' | 'void' | 'open' }[]): BookMarket[] =>
  given.map(({ after, winner }, index) => {
    const id = 'abc'[index] as string;
    return winner === 'open' ? market(id, { neg_risk_id: 'g' }) : resolved(id, after, winner, { neg_risk_id: 'g' });
  });

describe('identities of positions and gains', () => {
  test('whatever is bought, sold, split, merged, converted, resolved or refunded: cash out − cash in + worth = realized + unrealized', () => {
    fc.assert(
      fc.property(steps, results, (list, given) => {
        const { rows, cash } = history(list);
        const positions = new Book('w', groupOf(given)).run(rows, pricesOf(rows)).rows();
        // Worth less cost is unrealized on both sides: realized less what the shares left stand for is the cash that moved.
        const sum = positions.reduce((all, { gain, cost }) => all + fixed(gain) - fixed(cost), 0n);
        expect(sum).toBe(cash);
        for (const row of positions) {
          expect(fixed(row.gain)).toBe(
            fixed(row.gain_sell) + fixed(row.gain_merge) + fixed(row.gain_conversion) + fixed(row.gain_resolution),
          );
          expect(fixed(row.gain)).toBe(fixed(row.received_usdc) + fixed(row.cost) - fixed(row.paid_usdc));
          expect(fixed(row.shares)).toBe(fixed(row.paid_shares) - fixed(row.received_shares));
          expect(fixed(row.shares) >= 0n && fixed(row.cost) >= 0n && row.unseen_shares === '0').toBe(true);
          if (row.status !== 'open') expect(fixed(row.gain)).toBe(fixed(row.received_usdc) + fixed(row.payout_usdc) - fixed(row.paid_usdc));
        }
      }),
      { numRuns: 400 },
    );
  });

  test('gone on with row by row, a market ends as if computed at once', () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: 40 }), results, (list, cut, given) => {
        const { rows } = history(list.filter(({ kind }) => kind !== 9).map((step) => ({ ...step, market: 0 })));
        const [one] = groupOf(given) as [BookMarket];
        const prices = pricesOf(rows);
        const whole = new Book('w', [one]).run(rows, prices).rows();
        const first = new Book('w', [one]).run(rows.slice(0, cut), prices).rows();
        expect(new Book('w', [one], first).run(rows.slice(cut), prices).rows()).toEqual(whole);
        // The result may be learned at any time, also wrongly at first.
        const unaware = new Book('w', [{ ...one, resolved_at: null, payouts: null }]).run(rows.slice(0, cut), prices).rows();
        if (one.resolved_at === null || rows.slice(0, cut).every(({ timestamp }) => timestamp <= (one.resolved_at as Date))) {
          expect(new Book('w', [one], unaware).run(rows.slice(cut), prices).rows()).toEqual(whole);
        }
      }),
      { numRuns: 300 },
    );
  });
});
