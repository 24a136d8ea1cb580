import { DAMM_V2, DLMM, type Key, keyOf, OPERATOR } from './keys';
import { priceOf } from './market';
import { activeBin, reservesOf } from './pool-state';
import type { PositionEvent } from './position-life';
import { hashOf } from './random';
import type { Roster } from './roster';
import { swapEvent } from './swaps';
import type { ChainTx, ToldEvent } from './transactions';

export const eventTxId = (event: PositionEvent): string => `position/${event.position.id}/${event.index}`;

/** Share of damm_v2 deposits and withdrawals that begin or end with a swap: people hold one of the two tokens. */
const ZAPPED = 0.75;

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
      return [
        [
          told('Rebalancing', (to) =>
            to
              .key(pool, key, owner)
              .i32(bin)
              .u64(x, x, y, y, fee_x, fee_y)
              .i32(...range)
              .u64(0, 0),
          ),
        ],
      ];
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
      return [...zap(roster, event, false, tvl), [told('EvtCreatePosition', (to) => to.key(pool, owner, key, nft()))], [change(0)]];
    case 'add':
      return [[change(0)]];
    case 'remove':
      return [[change(1)]];
    case 'claim':
    case 'rebalance':
      return [[claim]];
    case 'close':
      return [[change(1)], [claim], [told('EvtClosePosition', (to) => to.key(pool, owner, key, nft()))], ...zap(roster, event, true, tvl)];
  }
}

/** The swap before a deposit (buys the first token) or after a withdrawal (sells it). */
function zap(roster: Roster, { position, index, x, time }: PositionEvent, sells: boolean, tvl: number): ToldEvent[][] {
  const { pool, owner } = position;
  const chance = hashOf(roster.seed, position.opened / 1000, owner.index, index);
  const usd = (x / 10 ** pool.x.decimals) * priceOf(roster.seed, pool.x, time);
  return chance < ZAPPED && usd > 0 ? [[swapEvent(roster, pool, owner.key, usd, sells, time, tvl, () => chance)]] : [];
}
