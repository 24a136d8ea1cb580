import type { ChainEvent } from './transaction';
import type { Fields } from './borsh';

/**
 * Some program versions told one thing twice: in the old event and in its successor (cp_amm 0.1.5 emits EvtSwap and
 * EvtSwap2, EvtAddLiquidity or EvtRemoveLiquidity and EvtLiquidityChange). The successor says more, so it stays.
 */
const SUCCESSORS: Record<string, (fields: Fields) => { name: string; same: string }> = {
  EvtSwap2: (f) => ({ name: 'EvtSwap', same: `${text(f.pool)}/${text((f.swap_result as Fields).output_amount)}` }),
  EvtLiquidityChange: (f) => ({
    name: f.change_type === 0 ? 'EvtAddLiquidity' : 'EvtRemoveLiquidity',
    same: `${text(f.position)}/${text(f.token_a_amount)}/${text(f.token_b_amount)}`,
  }),
  Swap2Evt: (f) => ({ name: 'Swap', same: `${text(f.lb_pair)}/${text(f.amount_out)}` }),
  ClaimFee2: (f) => ({ name: 'ClaimFee', same: `${text(f.position)}/${text(f.fee_x)}/${text(f.fee_y)}` }),
  ClaimReward2: (f) => ({ name: 'ClaimReward', same: `${text(f.position)}/${text(f.reward_index)}/${text(f.total_reward)}` }),
};

const IDENTITY: Record<string, (fields: Fields) => string> = {
  EvtSwap: (f) => `${text(f.pool)}/${text((f.swap_result as Fields).output_amount)}`,
  EvtAddLiquidity: (f) => `${text(f.position)}/${text(f.token_a_amount)}/${text(f.token_b_amount)}`,
  EvtRemoveLiquidity: (f) => `${text(f.position)}/${text(f.token_a_amount)}/${text(f.token_b_amount)}`,
  Swap: (f) => `${text(f.lb_pair)}/${text(f.amount_out)}`,
  ClaimFee: (f) => `${text(f.position)}/${text(f.fee_x)}/${text(f.fee_y)}`,
  ClaimReward: (f) => `${text(f.position)}/${text(f.reward_index)}/${text(f.total_reward)}`,
};

const text = (value: unknown): string => String(value);

/** The events without the old form of those that a successor in the same outer instruction tells again. */
export function withoutTwins(events: ChainEvent[]): ChainEvent[] {
  const told = new Map<string, number>();
  for (const event of events) {
    const twin = SUCCESSORS[event.name]?.(event.fields);
    if (twin === undefined) continue;
    const key = `${event.outerIx}/${twin.name}/${twin.same}`;
    told.set(key, (told.get(key) ?? 0) + 1);
  }
  if (told.size === 0) return events;
  return events.filter((event) => {
    const same = IDENTITY[event.name]?.(event.fields);
    if (same === undefined) return true;
    const key = `${event.outerIx}/${event.name}/${same}`;
    const left = told.get(key) ?? 0;
    told.set(key, left - 1);
    return left <= 0;
  });
}
