import { DAMM_V2, DLMM, type Key, keyOf, OPERATOR } from './keys';
import { priceOf } from './market';
import type { PositionEvent } from './positions';
import type { Pool, Roster } from './roster';
import type { ChainTx, ToldEvent } from './transactions';

/** Bin of the market price in a dlmm pool. */
export function activeBin(roster: Roster, pool: Pool, time: number): number {
  const price = (priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time)) * 10 ** (pool.y.decimals - pool.x.decimals);
  return Math.round(Math.log(price) / Math.log(1 + pool.bin_step / 10_000));
}

/** Square root of the market price in smallest units, Q64.64. */
export function sqrtPrice(roster: Roster, pool: Pool, time: number): number {
  const price = (priceOf(roster.seed, pool.x, time) / priceOf(roster.seed, pool.y, time)) * 10 ** (pool.y.decimals - pool.x.decimals);
  return Math.floor(Math.sqrt(price) * 2 ** 64);
}

/** Reserves in smallest units: both halves of the liquidity at market prices. */
export function reservesOf(roster: Roster, pool: Pool, tvl: number, time: number): [number, number] {
  const side = (token: Pool['x']): number => Math.floor((tvl / 2 / priceOf(roster.seed, token, time)) * 10 ** token.decimals);
  return [side(pool.x), side(pool.y)];
}

export const eventTxId = (event: PositionEvent): string => `position/${event.position.id}/${event.index}`;

/** The transaction behind something done to a position: opening and closing tell several events at once. */
export function positionTx(roster: Roster, event: PositionEvent, tvl: number): ChainTx {
  const { position } = event;
  const { owner, pool } = position;
  const steps = pool.type === 'dlmm' ? dlmmSteps(roster, event) : dammSteps(roster, event, tvl);
  const program = owner.operated ? OPERATOR : pool.type === 'dlmm' ? DLMM : DAMM_V2;
  return { time: event.time, id: eventTxId(event), payer: owner.key, program, steps };
}

function dlmmSteps(roster: Roster, event: PositionEvent): ToldEvent[][] {
  const { position, kind, x, y, fee_x, fee_y } = event;
  const [pool, owner, key] = [position.pool.key, position.owner.key, position.key];
  const bin = activeBin(roster, position.pool, event.time);
  const told = (name: string, write: ToldEvent['write']): ToldEvent => ({ program: DLMM, name, write });
  const add = told('AddLiquidity', (to) => to.key(pool, owner, key).u64(x, y).i32(bin));
  const remove = told('RemoveLiquidity', (to) => to.key(pool, owner, key).u64(x, y).i32(bin));
  const claim = told('ClaimFee2', (to) => to.key(pool, key, owner).u64(fee_x, fee_y).i32(bin));
  switch (kind) {
    case 'open':
      return [[told('PositionCreate', (to) => to.key(pool, key, owner))], [add]];
    case 'add':
      return [[add]];
    case 'remove':
      return [[remove]];
    case 'claim':
      return [[claim]];
    case 'rebalance': {
      const range = [bin - 30, bin + 30, bin - 30, bin + 30];
      return [[told('Rebalancing', (to) => to.key(pool, key, owner).i32(bin).u64(x, x, y, y, fee_x, fee_y).i32(...range).u64(0, 0))]];
    }
    case 'close':
      return [[remove], [claim], [told('PositionClose', (to) => to.key(key, owner))]];
  }
}

function dammSteps(roster: Roster, event: PositionEvent, tvl: number): ToldEvent[][] {
  const { position, kind, x, y, fee_x, fee_y, time } = event;
  const [pool, owner, key] = [position.pool.key, position.owner.key, position.key];
  const nft = (): Key => keyOf(roster.seed, 'nft', position.id);
  const reserves = reservesOf(roster, position.pool, tvl, time);
  const told = (name: string, write: ToldEvent['write']): ToldEvent => ({ program: DAMM_V2, name, write });
  const change = (type: 0 | 1): ToldEvent =>
    told('EvtLiquidityChange', (to) =>
      to
        .key(pool, key, owner)
        .u64(x, y, x, y, ...reserves)
        .u128(x * y)
        .u64(0, 0)
        .u8(type),
    );
  const claim = told('EvtClaimPositionFee', (to) => to.key(pool, key, owner).u64(fee_x, fee_y));
  switch (kind) {
    case 'open':
      return [[told('EvtCreatePosition', (to) => to.key(pool, owner, key, nft()))], [change(0)]];
    case 'add':
      return [[change(0)]];
    case 'remove':
      return [[change(1)]];
    case 'claim':
    case 'rebalance':
      return [[claim]];
    case 'close':
      return [[change(1)], [claim], [told('EvtClosePosition', (to) => to.key(pool, owner, key, nft()))]];
  }
}
