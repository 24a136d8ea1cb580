import type { Pool } from 'pg';
import { condition, loadRecords, token, tx, wallet } from './support';

/** Seconds of the small world's now: 2026-03-10 12:00:00 UTC. */
export const NOW = Date.UTC(2026, 2, 10, 12) / 1_000;
export const now = new Date(NOW * 1_000);
export const iso = (seconds: number): string => `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;

/** A row of /trades, `ago` seconds before now. */
export function trade(
  n: number,
  market: number,
  outcome: number,
  by: number,
  side: 'BUY' | 'SELL',
  size: number,
  price: number,
  ago: number,
): Record<string, unknown> {
  return {
    proxyWallet: wallet(by),
    side,
    asset: token(market, outcome),
    conditionId: condition(market),
    size,
    price,
    timestamp: NOW - ago,
    title: `Question ${market}?`,
    slug: `question-${market}`,
    eventSlug: `event-${market}`,
    outcome: OUTCOMES[market]?.[outcome] ?? `Outcome ${outcome}`,
    outcomeIndex: outcome,
    transactionHash: tx(n),
  };
}

/** A row of /activity that moves shares without a trade. */
export function move(
  n: number,
  market: number,
  by: number,
  type: string,
  size: number,
  usdcSize: number,
  ago: number,
): Record<string, unknown> {
  return {
    proxyWallet: wallet(by),
    type,
    side: '',
    asset: '',
    conditionId: condition(market),
    size,
    usdcSize,
    price: 0,
    timestamp: NOW - ago,
    title: `Question ${market}?`,
    slug: `question-${market}`,
    eventSlug: `event-${market}`,
    outcome: '',
    outcomeIndex: 999,
    transactionHash: tx(n),
  };
}

const OUTCOMES: Record<number, string[]> = { 1: ['Yes', 'No'], 2: ['Red Foxes', 'Blue Owls'], 3: ['Yes', 'No'], 4: ['Yes', 'No'] };

/** A market object of the catalogue. */
export function market(n: number, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: String(n),
    conditionId: condition(n),
    question: `Question ${n}?`,
    slug: `question-${n}`,
    outcomes: JSON.stringify(OUTCOMES[n] ?? ['Yes', 'No']),
    outcomePrices: '["0.5", "0.5"]',
    clobTokenIds: JSON.stringify([token(n, 0), token(n, 1)]),
    active: true,
    closed: false,
    negRisk: false,
    enableOrderBook: true,
    createdAt: iso(NOW - 20 * 86_400),
    updatedAt: iso(NOW - 10 * 86_400),
    endDate: iso(NOW + 30 * 86_400),
    events: [{ id: String(n), slug: `event-${n}` }],
    tags: [],
    ...fields,
  };
}

const HOUR = 3_600;
const DAY = 86_400;

/** Four markets, seven wallets, every kind of row; wallets 1 (score 80) and 2 (60) are smart, 6 is a machine, 5 is not smart by a tenth. */
export async function loadSmallWorld(pool: Pool): Promise<void> {
  await loadRecords(pool, 'markets.json', [
    market(1, { tags: [{ slug: 'politics' }] }),
    market(2, {
      tags: [{ slug: 'nba' }],
      closed: true,
      outcomePrices: '["0", "1"]',
      closedTime: iso(NOW - 5 * HOUR),
      umaResolutionStatus: 'resolved',
    }),
    market(3, {
      tags: [{ slug: 'crypto' }],
      closed: true,
      outcomePrices: '["0.5", "0.5"]',
      closedTime: iso(NOW - 2 * HOUR),
      umaResolutionStatus: 'resolved',
      createdAt: iso(NOW - 6 * HOUR),
    }),
  ]);
  await loadRecords(pool, 'trades.json', [
    trade(1, 1, 0, 1, 'BUY', 20_000, 0.6, 10),
    trade(2, 1, 0, 2, 'BUY', 100, 0.55, 100),
    trade(3, 1, 1, 3, 'SELL', 50, 0.4, 200),
    trade(4, 1, 0, 4, 'BUY', 30_000, 0.5, 2 * HOUR),
    trade(5, 1, 0, 4, 'SELL', 10, 0.52, 23 * HOUR),
    trade(6, 1, 0, 5, 'BUY', 7, 0.5, 3 * DAY),
    trade(7, 2, 1, 1, 'BUY', 25_000, 0.8, 6 * HOUR),
    trade(8, 2, 0, 6, 'BUY', 60_000, 0.2, 7 * HOUR),
    trade(9, 3, 0, 5, 'BUY', 400, 0.5, 3 * HOUR),
    trade(10, 4, 0, 7, 'BUY', 12, 0.25, 40 * DAY),
    // The same fill twice in one transaction, and a row of the future.
    trade(11, 1, 0, 2, 'BUY', 5, 0.6, 50),
    trade(11, 1, 0, 2, 'BUY', 5, 0.6, 50),
    trade(12, 1, 0, 3, 'BUY', 1_000_000, 0.9, -1),
  ]);
  await loadRecords(pool, 'activity.json', [
    { ...trade(13, 1, 1, 6, 'SELL', 500, 0.45, 150), type: 'TRADE', usdcSize: 225 },
    { ...trade(1, 1, 0, 1, 'BUY', 20_000, 0.6, 10), type: 'TRADE', usdcSize: 12_000.5 },
    move(14, 2, 1, 'REDEEM', 25_000, 25_000, 4 * HOUR),
    move(15, 2, 6, 'REDEEM', 0, 0, 4 * HOUR),
    move(16, 3, 5, 'REDEEM', 400, 200, HOUR),
    move(17, 1, 6, 'SPLIT', 500, 500, 5 * HOUR),
  ]);
  await score(
    pool,
    '2026-03-09',
    [
      [1, 10],
      [5, 90],
    ],
    'older',
  );
  await score(
    pool,
    '2026-03-10',
    [
      [1, 80],
      [2, 60],
      [4, 59.9],
      [5, 59.9],
      [6, null],
    ],
    'pm-2026.3',
  );
  await score(pool, '2026-03-11', [[3, 99]], 'of the future');
}

/** Scores of a run on `day`. */
export async function score(pool: Pool, day: string, scores: [number, number | null][], version: string): Promise<void> {
  for (const [by, value] of scores) {
    const tags = by === 6 ? ['market_maker'] : value !== null && value >= 80 ? ['elite', 'whale'] : [];
    await pool.query('INSERT INTO pm_wallet_score (wallet, day, score, tags, version, win_rate) VALUES ($1, $2, $3, $4, $5, $6)', [
      wallet(by),
      day,
      value,
      tags,
      version,
      value === null ? null : 0.625,
    ]);
  }
}
