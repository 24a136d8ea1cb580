/** An amount in parts by weight (none has any: equal parts); what division leaves goes to the last, so that they add up. Empty without weights. */
export function shareOut(amount: bigint, weights: readonly bigint[]): bigint[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0n);
  const parts = weights.map((weight) => (total === 0n ? amount / BigInt(weights.length) : (amount * weight) / total));
  const given = parts.reduce((sum, part) => sum + part, 0n);
  if (parts.length > 0) parts[parts.length - 1] = (parts[parts.length - 1] as bigint) + amount - given;
  return parts;
}
