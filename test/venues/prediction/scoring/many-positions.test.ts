import type { JudgedPosition } from '../../../../src/venues/prediction/positions/figures';
import { behaviourOf } from '../../../../src/venues/prediction/scoring/behaviour';
import { largestEventShare } from '../../../../src/venues/prediction/scoring/evidence';
import { daysAgo } from './planted';

/** A machine that trades both outcomes of every five-minute market makes so many positions in a few months: more than a call takes arguments. */
const MANY = 200_000;

test('what a wallet of very many positions is judged by', () => {
  const ended = Array.from({ length: MANY }, (_, n) => ({
    event: `event-${n}`,
    e: 0.5,
    y: 1,
    cost_usdc: 1,
    pnl_usdc: n === 7 ? MANY - 1 : 1,
    closed_at: daysAgo(1),
  }));
  expect(largestEventShare(ended)).toBe(0.5);
  const positions = ended.map((_, n) => ({
    condition_id: `market-${n}`,
    category: 'Crypto',
    status: 'open',
    paid_shares: '2',
    paid_usdc: n === 7 ? '60000' : '1',
    buy_usdc: '1',
    sell_usdc: '0',
    trades: 1,
  })) as unknown as JudgedPosition[];
  const findings = { first_trade_at: daysAgo(9), habits: undefined, self_trade_share: null, insider_score: null, copy_score: null };
  expect(behaviourOf(positions, null, findings)).toMatchObject({
    largest_position_usdc: 60_000,
    trades: MANY,
    top_category_positions: MANY,
  });
});

test('what its markets, its times and its categories tell', () => {
  const held = (condition_id: string, category: string, status: string, hours: number, buy_usdc: string): JudgedPosition =>
    ({
      ...{ condition_id, category, status, paid_shares: '2', paid_usdc: '1', buy_usdc, sell_usdc: '0', trades: 1 },
      ...{ opened_at: daysAgo(9), closed_at: status === 'open' ? null : new Date(daysAgo(9).getTime() + hours * 3_600_000) },
    }) as unknown as JudgedPosition;
  const findings = { first_trade_at: daysAgo(9), habits: undefined, self_trade_share: null, insider_score: null, copy_score: null };
  const positions = [held('a', 'Crypto', 'closed', 1, '3'), held('a', 'Crypto', 'resolved', 3, '1'), held('b', 'World', 'open', 0, '1')];
  expect(behaviourOf(positions, null, findings)).toMatchObject({
    both_sides_share: 0.5,
    median_hold_seconds: 7_200,
    top_category_share: 0.8,
    top_category_positions: 2,
    // At one half nobody leads.
    against_leader_share: 0,
  });
});
