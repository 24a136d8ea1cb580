import { DAMM_V2_PROGRAM, DCA_PROGRAM, DLMM_PROGRAM } from '../chain-addresses';
import { type Facts, type OwnershipRow, numberEqualKeys } from '../store/rows';
import { dammV2Fact } from './damm-v2-facts';
import { dcaFact } from './dca-facts';
import { dlmmFact } from './dlmm-facts';
import { withoutTwins } from './event-twins';
import type { DecodedTransaction } from './transaction';

/**
 * Adds the facts of one transaction to `facts`; returns how many (the making of a pool and its first liquidity are facts too).
 * Events that an upgrade emitted twice, in an old and a new form, are one fact.
 */
export function addFacts(tx: DecodedTransaction, facts: Facts): number {
  const first = facts.events.length;
  const owners = facts.ownerships.length;
  let count = 0;
  for (const event of withoutTwins(tx.events)) {
    const place = { tx, event };
    if (event.program === DLMM_PROGRAM) count += dlmmFact(place, facts);
    else if (event.program === DAMM_V2_PROGRAM) count += dammV2Fact(place, facts);
    else if (event.program === DCA_PROGRAM) count += dcaFact(place, facts);
  }
  numberEqualKeys(facts.events, first);
  keepLastOwners(facts.ownerships, owners);
  return count;
}

/** From `first` on, the last that is said of a position stays: a transaction may hand it on. */
function keepLastOwners(ownerships: OwnershipRow[], first: number): void {
  const last = new Map(ownerships.splice(first).map((row) => [row.position_address, row]));
  ownerships.push(...last.values());
}
