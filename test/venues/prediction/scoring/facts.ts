import type { Pool } from 'pg';

// Positions of a world a second time, by plain loops over its facts: nothing of the wing is used. No conversions, which the simulated market does not have.

interface Fact {
  wallet: string;
  condition_id: string;
  token_id: string | null;
  side: 'BUY' | 'SELL' | 'SPLIT' | 'MERGE' | 'REDEEM';
  price: number | null;
  size: number;
  usdc: number;
  at: number;
  tx_hash: string | null;
}

export interface Market {
  category: string;
  event: string;
  tokens: { token_id: string; payout: number | null }[];
  resolved_at: number | null;
  is_voided: boolean;
}

export interface Position {
  market: Market;
  token_id: string;
  status: 'open' | 'closed' | 'resolved' | 'voided';
  shares: number;
  cost: number;
  paid_shares: number;
  paid: number;
  /** Sales, merges and the payout. */
  back: number;
  gain: number;
  opened_at: number;
  closed_at: number;
}

export interface Facts {
  /** BUY and SELL, by wallet, oldest first. */
  trades: Map<string, Fact[]>;
  positions: Map<string, Position[]>;
  markets: Map<string, Market>;
}

const DUST = 1e-9;
const comes = ({ side }: Fact): boolean => side === 'BUY' || side === 'SPLIT';

function grouped<Row>(rows: readonly Row[], keyOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return groups;
}

export async function readFacts(pool: Pool, now: Date): Promise<Facts> {
  const { rows: facts } = await pool.query<Fact>(
    `SELECT wallet, condition_id, token_id, side, price::float8 AS price, size::float8 AS size, usdc_size::float8 AS usdc, extract(epoch FROM "timestamp")::float8 AS at, tx_hash
     FROM pm_trade WHERE "timestamp" < $1 ORDER BY "timestamp", trade_id`,
    [now],
  );
  const { rows: listed } = await pool.query<Market & { condition_id: string }>(
    `SELECT condition_id, category, coalesce(event_slug, condition_id) AS event, is_voided, CASE WHEN resolved_at < $1 THEN extract(epoch FROM resolved_at)::float8 END AS resolved_at,
       (SELECT jsonb_agg(jsonb_build_object('token_id', token_id, 'payout', payout) ORDER BY outcome_index) FROM pm_outcome o WHERE o.condition_id = m.condition_id) AS tokens
     FROM pm_market m`,
    [now],
  );
  const markets = new Map(listed.map((market) => [market.condition_id, market]));
  const fills = grouped(
    facts.filter(({ side }) => side === 'BUY' || side === 'SELL'),
    ({ token_id }) => token_id as string,
  );
  const lastPrice = (token_id: string, at: number): number | null => fills.get(token_id)?.findLast((fill) => fill.at < at)?.price ?? null;
  const positions = new Map<string, Position[]>();
  for (const own of grouped(facts, ({ wallet, condition_id }) => `${wallet} ${condition_id}`).values()) {
    const [{ wallet, condition_id }] = own as [Fact];
    const lived = replay(own, markets.get(condition_id) as Market, lastPrice);
    positions.set(wallet, [...(positions.get(wallet) ?? []), ...lived]);
  }
  const trades = grouped(
    facts.filter(({ side }) => side === 'BUY' || side === 'SELL'),
    ({ wallet }) => wallet,
  );
  return { trades, positions, markets };
}

/** Prices of a full set: the last ones, a missing one what the others leave, scaled to add up to 1. */
function setPrices(market: Market, at: number, lastPrice: (token_id: string, at: number) => number | null): number[] {
  const last = market.tokens.map(({ token_id }) => lastPrice(token_id, at));
  const known = last.filter((price) => price !== null).reduce((a, b) => a + b, 0);
  if (known === 0) return last.map(() => 1 / last.length);
  const rest = Math.max(0, 1 - known) / Math.max(1, last.filter((price) => price === null).length);
  const filled = last.map((price) => price ?? rest);
  return filled.map((price) => price / filled.reduce((a, b) => a + b, 0));
}

function replay(own: readonly Fact[], market: Market, lastPrice: (token_id: string, at: number) => number | null): Position[] {
  const positions = new Map<string, Position>();
  const take = (token_id: string, size: number, usdc: number, at: number): void => {
    const none: Position = { market, token_id, status: 'open', shares: 0, cost: 0, paid_shares: 0, paid: 0, back: 0, gain: 0, opened_at: at, closed_at: 0 }; // prettier-ignore
    const position = positions.get(token_id) ?? none;
    positions.set(token_id, position);
    position.shares += size;
    position.cost += usdc;
    position.paid_shares += size;
    position.paid += usdc;
    position.status = 'open';
  };
  const give = (token_id: string, size: number, usdc: number, at: number): void => {
    const position = positions.get(token_id);
    if (position === undefined || position.shares === 0) return;
    const seen = Math.min(size, position.shares);
    const cost = (position.cost * seen) / position.shares;
    position.gain += (usdc * seen) / size - cost;
    position.back += (usdc * seen) / size;
    position.shares -= seen;
    position.cost -= cost;
    if (position.shares < DUST) Object.assign(position, { shares: 0, cost: 0, status: 'closed', closed_at: at });
  };
  for (const fact of [...own].sort((a, b) => a.at - b.at || Number(comes(b)) - Number(comes(a)))) {
    if (market.resolved_at !== null && fact.at > market.resolved_at) break;
    const { token_id, side, size, usdc, at } = fact;
    if (side === 'BUY') take(token_id as string, size, usdc, at);
    else if (side === 'SELL') give(token_id as string, size, usdc, at);
    else if (side !== 'REDEEM') {
      const prices = setPrices(market, at, lastPrice);
      for (const [index, token] of market.tokens.entries()) (side === 'SPLIT' ? take : give)(token.token_id, size, size * (prices[index] as number), at); // prettier-ignore
    }
  }
  for (const position of positions.values()) {
    if (market.resolved_at === null || position.status !== 'open') continue;
    const worth = position.shares * (market.tokens.find(({ token_id }) => token_id === position.token_id)?.payout ?? 0);
    position.gain += worth - position.cost;
    position.back += worth;
    position.status = market.is_voided ? 'voided' : 'resolved';
    position.closed_at = market.resolved_at;
  }
  return [...positions.values()];
}
