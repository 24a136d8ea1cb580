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
