import { wordsOf } from './market-search';

/** In how many of so many texts each word is. */
export interface WordCounts {
  texts: number;
  words: [string, number][];
}

export function countWords(texts: readonly string[]): WordCounts {
  const counts = new Map<string, number>();
  for (const text of texts) for (const word of wordsOf(text)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { texts: texts.length, words: [...counts] };
}

/** Texts as vectors of their words, each word weighed by ln(1 + texts / texts with it); a word that was not counted is in one. */
export class WordVectors {
  private readonly frequency: Map<string, number>;
  private readonly words: Map<string, string[]>;

  constructor(
    private readonly counts: WordCounts,
    texts: ReadonlyMap<string, string>,
  ) {
    this.frequency = new Map(counts.words);
    this.words = new Map([...texts].map(([key, text]) => [key, wordsOf(text)]));
  }

  /** Cosine of two texts, 0-1; 0 where one has no words. */
  cosine(a: string, b: string): number {
    const [first, second] = [this.words.get(a) ?? [], new Set(this.words.get(b) ?? [])];
    const lengths = this.square(first) * this.square(second);
    return lengths === 0 ? 0 : Math.min(1, this.square(first.filter((word) => second.has(word))) / Math.sqrt(lengths));
  }

  private square(words: Iterable<string>): number {
    let sum = 0;
    for (const word of words) sum += Math.log(1 + this.counts.texts / (this.frequency.get(word) ?? 1)) ** 2;
    return sum;
  }
}
