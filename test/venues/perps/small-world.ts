import type { Pool } from 'pg';
import { load, match, trader } from './support';

export const NOW = new Date('2026-01-31T12:00:00.000Z');
export const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * 60_000);
const HOUR = 60;
const DAY = 24 * HOUR;

export const [ANN, BOB, MAX] = ['a', 'b', 'c'].map(trader) as [string, string, string];

/**
 * Eight matches that can be reckoned in the head. Max makes them all.
 * - 40 d: kPEPE, Ann buys 50,000 for 500
 * - 8 d: BTC, Ann buys 2,000 for 200,000; 7 d before NOW to the millisecond: Bob buys 10 for 1,000
 * - 26 h: ETH, Bob sells 20 for 60,000
 * - 2 h: BTC, Ann buys 1,000 for 100,000
 * - 1 h: BTC, Ann sells 400 of them for 44,000
 * - 30 min: BTC, Bob sells 1,000 for 105,000 holding 300: a flip
 * - 10 min: ETH, Bob's short of 20 is liquidated for 66,000
 * - 1 min from now: BTC, Ann buys 9,000 for 900,000
 */
export async function loadSmallWorld(pool: Pool): Promise<void> {
  await load(pool, [
    match(ago(40 * DAY), { coin: 'kPEPE', px: '0.01', sz: '50000', side: 'B', taker: [ANN, '0.0', { fee: '0.2' }], maker: [MAX, '0.0'] }),
    match(ago(8 * DAY), { px: '100', sz: '2000', side: 'B', taker: [ANN, '0.0'], maker: [MAX, '0.0'] }),
    match(ago(7 * DAY), { px: '100', sz: '10', side: 'B', taker: [BOB, '0.0'], maker: [MAX, '-2000.0'] }),
    match(ago(26 * HOUR), { coin: 'ETH', px: '3000', sz: '20', side: 'A', taker: [BOB, '0.0'], maker: [MAX, '0.0'] }),
    match(ago(2 * HOUR), {
      px: '100',
      sz: '1000',
      side: 'B',
      taker: [ANN, '2000.0', { fee: '45' }],
      maker: [MAX, '-2010.0', { fee: '-3' }],
    }),
    match(ago(HOUR), {
      px: '110',
      sz: '400',
      side: 'A',
      taker: [ANN, '3000.0', { closedPnl: '4000.0' }],
      maker: [MAX, '-3010.0', { closedPnl: '-4000' }],
    }),
    match(ago(30), {
      px: '105',
      sz: '1000',
      side: 'A',
      taker: [BOB, '300.0', { fee: '10.5', closedPnl: '1500.25', dir: 'Long > Short' }],
      maker: [MAX, '-2610.0', { closedPnl: '-5000' }],
    }),
    match(ago(10), {
      coin: 'ETH',
      px: '3300',
      sz: '20',
      side: 'B',
      taker: [BOB, '-20.0', { closedPnl: '-6000', liquidation: { liquidatedUser: BOB } }],
      maker: [MAX, '20.0', { liquidation: { liquidatedUser: BOB } }],
    }),
    match(ago(-1), { px: '100', sz: '9000', side: 'B', taker: [ANN, '2600.0'], maker: [MAX, '-1610.0'] }),
  ]);
}

/** Scores of a run on `day`. */
export async function loadScores(pool: Pool, day: string, scores: Record<string, number | null>, version = 'perps-test'): Promise<void> {
  for (const [address, score] of Object.entries(scores)) {
    await pool.query(
      `INSERT INTO perp_score (trader, day, score, tags, version, trades, closing_trades, winning_trades, net_pnl, caps) VALUES ($1, $2, $3, '{swing}', $4, 100, 50, 30, 1000, '{}')`,
      [address, day, score, version],
    );
  }
}
