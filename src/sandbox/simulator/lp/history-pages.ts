import { priceOf } from './market';
import { eventTxId } from './position-events';
import type { PositionEvent } from './position-life';
import type { Roster } from './roster';
import { slotOf, txSignature } from './transactions';

type Leg = readonly [eventType: 'add' | 'remove' | 'claim_fee', ixIndex: number, x: number, y: number];

/** `/positions/{position}/historical` of one position, newest first. */
export function historyAnswer(roster: Roster, events: readonly PositionEvent[]): { events: Record<string, unknown>[] } {
  const rows = events.flatMap((event) => legsOf(event).map((leg) => historyRow(roster, event, leg)));
  return { events: rows.reverse() };
}

/** How many facts an event is: the legs of what was done. */
export function legsOf({ kind, x, y, fee_x, fee_y }: PositionEvent): Leg[] {
  switch (kind) {
    case 'open':
      return [['add', 2, x, y]];
    case 'add':
      return [['add', 1, x, y]];
    case 'remove':
      return [['remove', 1, x, y]];
    case 'claim':
      return [['claim_fee', 1, fee_x, fee_y]];
    case 'rebalance':
      return (
        [
          ['remove', 1, x, y],
          ['add', 1, x, y],
          ['claim_fee', 1, fee_x, fee_y],
        ] as const
      ).filter(([, , a, b]) => a !== 0 || b !== 0);
    case 'close':
      return [
        ['remove', 1, x, y],
        ['claim_fee', 2, fee_x, fee_y],
      ];
  }
}

function historyRow(roster: Roster, event: PositionEvent, [eventType, ixIndex, x, y]: Leg): Record<string, unknown> {
  const { position, time } = event;
  const { pool, owner } = position;
  const amounts = [toUnits(x, pool.x.decimals), toUnits(y, pool.y.decimals)] as const;
  const usdX = Number(amounts[0]) * priceOf(roster.seed, pool.x, time);
  const usdY = Number(amounts[1]) * priceOf(roster.seed, pool.y, time);
  return {
    signature: txSignature(roster.seed, eventTxId(event)),
    ixIndex,
    slot: slotOf(time),
    blockTime: Math.floor(time / 1000),
    createdAt: new Date(time + 4_000).toISOString(),
    eventType,
    userAddress: owner.key.text,
    poolAddress: pool.key.text,
    positionAddress: position.key.text,
    tokenX: pool.x.mint.text,
    tokenY: pool.y.mint.text,
    amountX: amounts[0],
    amountY: amounts[1],
    amountXUsd: usdX.toFixed(8),
    amountYUsd: usdY.toFixed(8),
    totalUsd: (usdX + usdY).toFixed(8),
  };
}

/** Smallest units as decimal text in units of the token. */
function toUnits(raw: number, decimals: number): string {
  const digits = BigInt(raw)
    .toString()
    .padStart(decimals + 1, '0');
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`.replace(/\.?0+$/, '');
}
