/** Edit distance (Levenshtein) between two short texts. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}

/** The candidate nearest to a mistyped word, if it is near enough to be meant; case is ignored. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase().slice(0, 40);
  const ranked = candidates
    .map((candidate) => ({ candidate, steps: distance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.steps - b.steps);
  const best = ranked[0];
  if (best === undefined) return undefined;
  // With as many steps as letters nothing is left of the word.
  const near = Math.min(Math.max(1, Math.floor(best.candidate.length / 3)), best.candidate.length - 1);
  return best.steps <= near ? best.candidate : undefined;
}
