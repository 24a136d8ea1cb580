import type { ChainEvent } from './transaction';
import type { Fields } from './borsh';

/**
 * Some program versions told one thing twice: in the old event and in its successor (cp_amm 0.1.5 emits EvtSwap and
 * EvtSwap2, EvtAddLiquidity or EvtRemoveLiquidity and EvtLiquidityChange; 0.1.8 both EvtSplitPosition2 and 3). The successor says more, so it stays. By successor, the old event.
 */
const SUCCESSORS: Record<string, (fields: Fields) => string> = {
  EvtSwap2: () => 'EvtSwap',
  EvtLiquidityChange: (f) => (f.change_type === 0 ? 'EvtAddLiquidity' : 'EvtRemoveLiquidity'),
  EvtSplitPosition3: () => 'EvtSplitPosition2',
  Swap2Evt: () => 'Swap',
  ClaimFee2: () => 'ClaimFee',
  ClaimReward2: () => 'ClaimReward',
};

/** What an old event and its successor both say of the one thing they tell. */
const IDENTITY: Record<string, (fields: Fields) => string> = {
  EvtSwap: (f) => `${text(f.pool)}/${text((f.swap_result as Fields).output_amount)}`,
  EvtAddLiquidity: (f) => `${text(f.position)}/${text(f.token_a_amount)}/${text(f.token_b_amount)}`,
  EvtRemoveLiquidity: (f) => `${text(f.position)}/${text(f.token_a_amount)}/${text(f.token_b_amount)}`,
  EvtSplitPosition2: (f) => `${text(f.first_position)}/${text(f.second_position)}/${text((f.amount_splits as Fields).unlocked_liquidity)}`,
  Swap: (f) => `${text(f.lb_pair)}/${text(f.amount_out)}`,
  ClaimFee: (f) => `${text(f.position)}/${text(f.fee_x)}/${text(f.fee_y)}`,
  ClaimReward: (f) => `${text(f.position)}/${text(f.reward_index)}/${text(f.total_reward)}`,
};

const text = (value: unknown): string => String(value);

/** The same for an old event and its successor in an outer instruction; undefined where none succeeds it. */
function keyOf(old: string, { outerIx, fields }: ChainEvent): string | undefined {
  const same = IDENTITY[old]?.(fields);
  return same === undefined ? undefined : `${outerIx}/${old}/${same}`;
}

/** The events without the old form of those that a successor in the same outer instruction tells again. */
export function withoutTwins(events: ChainEvent[]): ChainEvent[] {
  const told = new Map<string, number>();
  for (const event of events) {
    const old = SUCCESSORS[event.name]?.(event.fields);
    const key = old === undefined ? undefined : keyOf(old, event);
    if (key !== undefined) told.set(key, (told.get(key) ?? 0) + 1);
  }
  if (told.size === 0) return events;
  return events.filter((event) => {
    const key = keyOf(event.name, event);
    if (key === undefined) return true;
    const left = told.get(key) ?? 0;
    told.set(key, left - 1);
    return left <= 0;
  });
}
