import type { DcaRow, Facts } from '../store/rows';
import type { Place } from './place';
import { instant } from './record';

const KINDS: Record<string, DcaRow['kind']> = {
  Opened: 'opened',
  Filled: 'filled',
  Closed: 'closed',
  CollectedFee: 'fee',
  Withdraw: 'withdraw',
  Deposit: 'deposit',
};

/** Adds one event of the recurring-order program; returns 1. Amounts stay in smallest units. */
export function dcaFact({ tx, event }: Place, facts: Facts): number {
  const f = event.fields as Partial<Record<string, string>>;
  const by = event.fields.userClosed ?? event.fields.userWithdraw;
  const kind = KINDS[event.name];
  if (kind === undefined || f.dcaKey === undefined) return 0;
  facts.dca.push({
    order_address: f.dcaKey,
    timestamp: tx.timestamp,
    tx_id: tx.signature,
    outer_ix: event.outerIx,
    inner_ix: event.innerIx,
    kind,
    owner: f.userKey ?? null,
    input_mint: f.inputMint ?? null,
    output_mint: f.outputMint ?? null,
    in_amount: f.inAmount ?? f.totalInWithdrawn ?? (kind === 'deposit' ? (f.amount ?? null) : null),
    out_amount: f.outAmount ?? f.totalOutWithdrawn ?? null,
    in_deposited: f.inDeposited ?? null,
    in_amount_per_cycle: f.inAmountPerCycle ?? null,
    unfilled_amount: f.unfilledAmount ?? null,
    cycle_frequency: f.cycleFrequency ?? null,
    opened_at: instant(f.createdAt),
    fee_mint: f.feeMint ?? (kind === 'fee' ? (f.mint ?? null) : null),
    fee: f.fee ?? (kind === 'fee' ? (f.amount ?? null) : null),
    by_user: typeof by === 'boolean' ? by : null,
  });
  return 1;
}
