import { UINT32, seededIntegers } from '../../src/lib/statistics';

/** Uniform numbers in [0, 1) in steps of 2⁻³²: the integers of the same seed. */
export function seededRandom(seed: number): () => number {
  const fill = seededIntegers(seed);
  const block = new Uint32Array(64);
  let used = block.length;
  return () => {
    if (used === block.length) {
      fill(block);
      used = 0;
    }
    return (block[used++] as number) / UINT32;
  };
}
