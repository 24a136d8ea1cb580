/** An amount in parts by weight (none has any: equal parts); what division leaves goes to the last that has any, so that they add up. Empty without weights. */
export function shareOut(amount: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const parts = weights.map((weight) => (total === 0n ? amount / BigInt(weights.length) : (amount * weight) / total));
  const given = parts.reduce((sum, part) => sum + part, 0n);
  // A digit for an outcome without a price would be a position that cost next to nothing, and lost all of it.
  const last = weights.findLastIndex((weight) => total === 0n || weight > 0n);
  if (last >= 0) parts[last] = (parts[last] as bigint) + amount - given;
  return parts;
}
