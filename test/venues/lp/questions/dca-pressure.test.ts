import { SOL, USDC, USDT } from '../../../../src/venues/lp/chain-addresses';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { exact, factsOf, grouped, over, shown, swapTotals, total } from '../oracle';
import { loadAtOnce } from '../../../support/world';
import { START, simulated } from '../world';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date(START.getTime() + 5 * DAY + 5 * HOUR + 23 * 60_000 + 41_000);
const AHEAD: Record<string, number> = { '30m': HOUR / 2, '1h': HOUR, '24h': DAY, '7d': 7 * DAY, all: Infinity };
const QUOTES = [USDC, USDT, SOL];

interface Row {
  token_mint: string;
  buy_volume: number;
  sell_volume: number;
  net_pressure: number;
  score: number | null;
  open_buy_orders: number;
  open_sell_orders: number;
  buyers: number;
  next_cycle_at: string;
  label: string;
  remaining_buy_usd: number | null;
  pct_of_volume: number | null;
}

interface DcaFact {
  order_address: string;
  timestamp: Date;
  kind: string;
  owner: string;
  input_mint: string;
  output_mint: string;
  in_amount: string | null;
  in_deposited: string | null;
  in_amount_per_cycle: string;
  cycle_frequency: string;
  opened_at: Date | null;
}

interface Order {
  owner: string;
  input: string;
  output: string;
  amount: bigint;
  remaining: bigint;
  next: number;
}

describe('dca/pressure on a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: DcaFact[];
  let units: Map<string, bigint>;

  beforeAll(async () => {
    db = await testDatabase();
    await loadAtOnce(db.pool, 'lp', simulated(40_000, 6).pages);
    facts = (await db.pool.query<DcaFact>('SELECT * FROM dca_event')).rows;
    const { rows } = await db.pool.query<{ mint: string; decimals: number; usd: string | null }>(
      `SELECT t.mint, t.decimals, (SELECT usd FROM token_price p WHERE p.mint = t.mint AND minute <= $1 AND minute >= $1::timestamptz - interval '1 hour' ORDER BY minute DESC LIMIT 1) AS usd FROM lp_token t WHERE decimals IS NOT NULL`,
      [NOW],
    );
    // USD of one smallest unit of each token.
    units = new Map(
      rows.flatMap(({ mint, decimals, usd }) => {
        const price = mint === USDC || mint === USDT ? '1' : usd;
        return price === null ? [] : [[mint, exact(price) / 10n ** BigInt(decimals)] as const];
      }),
    );
  });
  afterAll(() => db.drop());

  /** Open orders with what falls due, cycle by cycle. */
  function openOrders(ahead: number): Order[] {
    const orders: Order[] = [];
    for (const own of grouped(
      facts.filter((fact) => fact.timestamp < NOW),
      (fact) => fact.order_address,
    ).values()) {
      const opened = own.find(({ kind }) => kind === 'opened');
      if (opened === undefined || own.some(({ kind }) => kind === 'closed')) continue;
      const sum = (kind: string): bigint =>
        own.filter((fact) => fact.kind === kind).reduce((all, fact) => all + BigInt(fact.in_amount ?? 0), 0n);
      const remaining = BigInt(opened.in_deposited ?? 0) + sum('deposit') - sum('filled') - sum('withdraw');
      if (remaining <= 0n) continue;
      const fills = own.filter(({ kind }) => kind === 'filled').map((fact) => fact.timestamp.getTime());
      const every = Number(opened.cycle_frequency) * 1_000;
      let next = (fills.length > 0 ? Math.max(...fills) : (opened.opened_at ?? opened.timestamp).getTime()) + every;
      while (next < NOW.getTime()) next += every;
      let amount = 0n;
      for (let due = next; due < NOW.getTime() + ahead && amount < remaining; due += every) amount += BigInt(opened.in_amount_per_cycle);
      if (amount > remaining) amount = remaining;
      orders.push({ owner: opened.owner, input: opened.input_mint, output: opened.output_mint, amount, remaining, next });
    }
    return orders;
  }

  function expected(token: string, orders: Order[]): Partial<Row> {
    const buys = orders.filter((order) => order.output === token);
    const sells = orders.filter((order) => order.input === token);
    const usd = (rows: Order[], pick: (order: Order) => bigint): bigint =>
      total(rows.map((order) => pick(order) * (units.get(order.input) ?? 0n)));
    const [buy, sell] = [usd(buys, (order) => order.amount), usd(sells, (order) => order.amount)];
    const score = over(100n * (buy - sell), buy + sell);
    const value = score === null ? null : shown(score);
    return {
      buy_volume: shown(buy),
      sell_volume: shown(sell),
      net_pressure: shown(buy - sell),
      score: value === null ? null : (expect.closeTo(value, 5) as never),
      open_buy_orders: buys.length,
      open_sell_orders: sells.length,
      buyers: new Set(buys.map((order) => order.owner)).size,
      next_cycle_at: `${new Date(Math.min(...[...buys, ...sells].map((order) => order.next))).toISOString().slice(0, 19)}Z`,
      label: value === null || Math.abs(value) < 15 ? 'neutral' : value > 0 ? 'accumulation' : 'distribution',
      remaining_buy_usd:
        buys.length > 0 && buys.every((order) => !units.has(order.input)) ? null : shown(usd(buys, (order) => order.remaining)),
    };
  }

  it.each(Object.keys(AHEAD))('lists the tokens of the next %s by the size of their pressure', async (timeframe) => {
    const orders = openOrders(AHEAD[timeframe] as number);
    const { data, meta } = await ask<{ timeframe: string; tokens: Row[]; last_updated: string }>(db, 'lp/dca/pressure', NOW, {
      timeframe,
      limit: 200,
      min_volume_usd: 0,
    });
    const mints = new Set(orders.flatMap((order) => [order.input, order.output]).filter((mint) => !QUOTES.includes(mint)));
    expect(data.tokens.map((row) => row.token_mint).sort()).toEqual([...mints].sort());
    expect(mints.size).toBeGreaterThan(1);
    for (const row of data.tokens) expect(row).toMatchObject(expected(row.token_mint, orders));
    const sizes = data.tokens.map((row) => Math.abs(row.net_pressure));
    expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
    expect(data.last_updated).toBe(
      `${new Date(Math.max(...facts.filter((fact) => fact.timestamp < NOW).map((fact) => fact.timestamp.getTime()))).toISOString().slice(0, 19)}Z`,
    );
    if (timeframe === '1h') expect(meta.window).toEqual({ from: NOW, to: new Date(NOW.getTime() + HOUR) });
    expect(data.tokens.some((row) => row.buy_volume + row.sell_volume > 0) || ['30m', '1h'].includes(timeframe)).toBe(true);
  });

  it('answers for one token, means of payment included, with its part of the volume before', async () => {
    const orders = openOrders(DAY);
    for (const token of [SOL, orders.find((order) => !QUOTES.includes(order.output))?.output as string]) {
      const { data } = await ask<Row>(db, 'lp/dca/pressure', NOW, { token, timeframe: '24h' });
      expect(data).toMatchObject({ token_mint: token, ...expected(token, orders) });
      const { rows } = await db.pool.query<{ pool_address: string }>('SELECT pool_address FROM lp_pool WHERE mint_x = $1 OR mint_y = $1', [
        token,
      ]);
      const volumes = swapTotals(await factsOf(db.pool), { from: NOW.getTime() - DAY, to: NOW.getTime() });
      const volume = total(rows.map((row) => volumes.get(row.pool_address)?.usd ?? 0n));
      expect(data.pct_of_volume).toBeCloseTo((100 * (data.buy_volume + data.sell_volume)) / shown(volume), 3);
    }
  });

  it('keeps to the least volume and the limit, and is empty without orders', async () => {
    const all = (await ask<{ tokens: Row[] }>(db, 'lp/dca/pressure', NOW, { timeframe: '7d', limit: 200, min_volume_usd: 0 })).data.tokens;
    const some = (await ask<{ tokens: Row[] }>(db, 'lp/dca/pressure', NOW, { timeframe: '7d', limit: 2, min_volume_usd: 200 })).data.tokens;
    expect(some).toEqual(all.filter((row) => row.buy_volume + row.sell_volume >= 200).slice(0, 2));
    await expect(ask(db, 'lp/dca/pressure', NOW, { token: '11111111111111111111111111111111' })).rejects.toMatchObject({
      code: 'empty_result',
    });
    await expect(ask(db, 'lp/dca/pressure', new Date('2025-06-01T00:00:00Z'), {})).rejects.toMatchObject({ code: 'empty_result' });
  });
});
