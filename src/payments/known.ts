import { AppError } from '../errors';
import { type ClaimKeys, claimKeysOf } from './claims';
import { type HeldVerdict, isFor, judgeHeld } from './held';
import type { Ledger } from './ledger';
import { idempotencyKeyOf } from './present';
import type { Credential, Marks, Protocol, Sale } from './protocol';

/**
 * What is to be done with a proof that would not be taken any more, of a payment on record: of this very transaction for this request, shown with the
 * secret of the offer it answered or the buyer's own key; null where there is none.
 */
export async function findKnown(
  ledger: Pick<Ledger, 'listHeld'>,
  protocol: Protocol,
  credential: Credential,
  sale: Sale,
): Promise<Exclude<HeldVerdict, { kind: 'free' }> | null> {
  const marks = marksOf(protocol, credential);
  if (marks === null) return null;
  const keysOf = (payer: string): ClaimKeys => claimKeysOf({ ...marks, payer, claim_keys: [] }, keyIn(sale));
  // Who pays is read from the record: the proof is not verified.
  const known = (await ledger.listHeld(keysOf(''))).find(({ by }) => by.includes('proof'));
  if (known === undefined) return null;
  const { payer } = known.record;
  const held = (await ledger.listHeld(keysOf(payer))).filter((one) => one.by.length > 1 && one.by.includes('proof') && isFor(one, sale));
  const verdict = judgeHeld(held, payer, sale);
  return verdict.kind === 'free' ? null : verdict;
}

/** The buyer's own name for a purchase where it can be one. */
function keyIn(sale: Sale): string | null {
  try {
    return idempotencyKeyOf(sale);
  } catch {
    return null;
  }
}

/** Null where the transaction cannot be decoded: none such is on record. */
function marksOf(protocol: Protocol, credential: Credential): Marks | null {
  try {
    return protocol.marksOf(credential);
  } catch (error) {
    if (error instanceof AppError) return null;
    throw error;
  }
}
