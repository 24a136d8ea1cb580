import { DAMM_V2_PROGRAM, DLMM_PROGRAM, SOL, USDC } from '../../../src/venues/lp/chain-addresses';
import { bool, eventData, i32, key, named, parsedTransaction, u128, u16, u64, u8, type WrittenEvent } from './chain-writer';

/** Names and addresses of the small worlds the tests count by hand. */
export const ZED = named('mint ZED');
export const SOL_USDC = named('pool SOL-USDC');
export const ZED_SOL = named('pool ZED-SOL');
export const ZED_USDC = named('pool ZED-USDC');
export const [ANNA, BEN, CARA] = [named('owner anna'), named('owner ben'), named('owner cara')] as const;

const token = (address: string, symbol: string, name: string, decimals: number, price?: number): Record<string, unknown> => ({
  address,
  symbol,
  name,
  decimals,
  price,
  is_verified: true,
});

/** `/pools` of the bin program's index: SOL-USDC with bins of 0.1 %. */
export const dlmmPoolsPage = {
  total: 1,
  pages: 1,
  current_page: 1,
  page_size: 1000,
  data: [
    {
      address: SOL_USDC,
      name: 'SOL-USDC',
      token_x: token(SOL, 'SOL', 'Wrapped SOL', 9, 100.5),
      token_y: token(USDC, 'USDC', 'USD Coin', 6, 1),
      pool_config: { bin_step: 10, base_fee_pct: 0.1, max_fee_pct: 10, protocol_fee_pct: 5 },
      tvl: 250000.5,
      cumulative_metrics: { volume: 9000000, fees: 9000 },
      created_at: 1767225600,
      is_blacklisted: false,
      unknown_field: { ignored: true },
    },
  ],
};

/** `/pools` of the constant-product program's index: ZED-SOL. */
export const dammPoolsPage = {
  total: 1,
  pages: 1,
  current_page: 1,
  page_size: 1000,
  data: [
    {
      address: ZED_SOL,
      name: 'ZED-SOL',
      token_x: token(ZED, 'ZED', 'Zed Token', 6, 0.25),
      token_y: token(SOL, 'SOL', 'Wrapped SOL', 9, 100.5),
      pool_config: { base_fee_mode: 0, base_fee_pct: 1, concentrated_liquidity: false },
      vault_x: null,
      vault_y: null,
      tvl: 50000,
      created_at: 1772323200,
    },
  ],
};

/** `/pair/all`: the older list, ZED-USDC. */
export const pairs = [
  {
    address: ZED_USDC,
    name: 'ZED-USDC',
    mint_x: ZED,
    mint_y: USDC,
    bin_step: 100,
    base_fee_percentage: '1',
    liquidity: '1000.25',
    cumulative_trade_volume: '77',
    cumulative_fee_volume: '0.7',
  },
];

/** A token list. */
export const tokenList = [
  { address: SOL, symbol: 'SOL', name: 'Wrapped SOL', decimals: 9 },
  { address: USDC, symbol: 'USDC', name: 'USD Coin', decimals: 6 },
  { address: ZED, symbol: 'ZED', name: 'Zed', decimals: 6 },
];

export interface HistoryRow {
  tx: string;
  at: string;
  type: 'add' | 'remove' | 'claim_fee' | 'claim_reward';
  pool: string;
  position: string;
  owner: string;
  x: string;
  y: string;
  usdX: string;
  usdY: string;
  ix?: number;
}

/** `/positions/{position}/historical`. */
export function history(...rows: HistoryRow[]): Record<string, unknown> {
  return {
    events: rows.map((row) => ({
      signature: named(row.tx, 64),
      ixIndex: row.ix ?? 1,
      slot: 300_000_000,
      blockTime: Date.parse(row.at) / 1000,
      eventType: row.type,
      userAddress: row.owner,
      poolAddress: row.pool,
      positionAddress: row.position,
      tokenX: row.pool === SOL_USDC ? SOL : ZED,
      tokenY: row.pool === ZED_SOL ? SOL : USDC,
      amountX: row.x,
      amountY: row.y,
      amountXUsd: row.usdX,
      amountYUsd: row.usdY,
      totalUsd: String(Number(row.usdX) + Number(row.usdY)),
    })),
  };
}

const dlmm = (name: string, ...pieces: Buffer[]): WrittenEvent => ({ program: DLMM_PROGRAM, data: eventData(name, ...pieces) });
export const damm = (name: string, ...pieces: Buffer[]): WrittenEvent => ({ program: DAMM_V2_PROGRAM, data: eventData(name, ...pieces) });

export const liquidity = (
  name: 'AddLiquidity' | 'RemoveLiquidity',
  pool: string,
  from: string,
  position: string,
  x: number | bigint,
  y: number | bigint,
  bin: number,
): WrittenEvent => dlmm(name, key(pool), key(from), key(position), u64(x), u64(y), i32(bin));

export const claimFee = (pool: string, position: string, owner: string, x: number, y: number): WrittenEvent =>
  dlmm('ClaimFee', key(pool), key(position), key(owner), u64(x), u64(y));

export const positionCreate = (pool: string, position: string, owner: string): WrittenEvent =>
  dlmm('PositionCreate', key(pool), key(position), key(owner));
export const positionClose = (position: string, owner: string): WrittenEvent => dlmm('PositionClose', key(position), key(owner));

/** A swap of the bin program; `sells` pays in the first token. The fee is in what is paid in, the protocol keeps 10 %, less what a host has of it. */
export const dlmmSwap = (
  pool: string,
  trader: string,
  bin: number,
  amountIn: number,
  amountOut: number,
  sells: boolean,
  fee: number,
  host = 0,
): WrittenEvent =>
  dlmm(
    'Swap',
    key(pool),
    key(trader),
    i32(bin),
    i32(bin),
    u64(amountIn),
    u64(amountOut),
    bool(sells),
    u64(fee),
    u64(Math.floor(fee / 10) - host),
    u128(0),
    u64(host),
  );

export const rebalancing = (
  pool: string,
  position: string,
  owner: string,
  bin: number,
  [xOut, xIn, yOut, yIn, xFee, yFee]: [number, number, number, number, number, number],
  rewards: [number, number] = [0, 0],
): WrittenEvent =>
  dlmm(
    'Rebalancing',
    key(pool),
    key(position),
    key(owner),
    i32(bin),
    u64(xOut),
    u64(xIn),
    u64(yOut),
    u64(yIn),
    u64(xFee),
    u64(yFee),
    i32(-9),
    i32(9),
    i32(-8),
    i32(8),
    u64(rewards[0]),
    u64(rewards[1]),
  );

export const lbPairCreate = (pool: string, binStep: number, x: string, y: string): WrittenEvent =>
  dlmm('LbPairCreate', key(pool), u16(binStep), key(x), key(y));

export const liquidityChange = (
  pool: string,
  position: string,
  owner: string,
  a: number,
  b: number,
  type: 0 | 1,
  reserves: [number, number] = [0, 0],
  delta = 7,
): WrittenEvent =>
  damm(
    'EvtLiquidityChange',
    key(pool),
    key(position),
    key(owner),
    u64(a),
    u64(b),
    u64(a),
    u64(b),
    u64(reserves[0]),
    u64(reserves[1]),
    u128(delta),
    u64(0),
    u64(0),
    u8(type),
  );

/** A swap of the constant-product program at a square root price (Q64.64); fees in the second token. */
export const dammSwap2 = (
  pool: string,
  direction: 0 | 1,
  amountIn: number,
  amountOut: number,
  sqrtPrice: bigint,
  fee: number,
  mode = 1,
  compounding = 0,
): WrittenEvent =>
  damm(
    'EvtSwap2',
    key(pool),
    u8(direction),
    u8(mode),
    bool(false),
    u64(amountIn),
    u64(0),
    u8(0),
    u64(amountIn),
    u64(amountIn),
    u64(0),
    u64(amountOut),
    u128(sqrtPrice),
    u64(fee),
    u64(3),
    u64(compounding),
    u64(0),
    u64(amountIn),
    u64(amountOut),
    u64(amountOut),
    u64(0),
    u64(5_000_000),
    u64(6_000_000_000),
  );

export const dammSwap1 = (
  pool: string,
  direction: 0 | 1,
  amountIn: number,
  amountOut: number,
  sqrtPrice: bigint,
  fee: number,
): WrittenEvent =>
  damm(
    'EvtSwap',
    key(pool),
    u8(direction),
    bool(false),
    u64(amountIn),
    u64(0),
    u64(amountOut),
    u128(sqrtPrice),
    u64(fee),
    u64(3),
    u64(0),
    u64(0),
    u64(amountIn),
    u64(0),
  );

/** The same in another slot. */
export const inSlot = (slot: number, { result, ...rest }: Record<string, unknown>): Record<string, unknown> => ({
  ...rest,
  result: { ...(result as object), slot },
});

/** The same with balances of mints that have so many decimals. */
export function withBalances(balances: [string, number][], { result, ...rest }: Record<string, unknown>): Record<string, unknown> {
  const { meta, ...transaction } = result as { meta: object };
  const postTokenBalances = balances.map(([mint, decimals], accountIndex) => ({
    accountIndex,
    mint,
    uiTokenAmount: { amount: '0', decimals },
  }));
  return { ...rest, result: { ...transaction, meta: { ...meta, postTokenBalances } } };
}

/** A transaction of these events, one outer instruction each. */
export const tx = (name: string, at: string, payer: string, ...events: WrittenEvent[]): Record<string, unknown> =>
  parsedTransaction({ signature: named(name, 64), at, payer, events: events.map((event, outer) => ({ outer, ...event })) });
