import { wordsOf } from './market-search';

/** Texts as vectors of their words, each word weighed by ln(1 + texts / texts with it). */
export class WordVectors {
  private readonly frequency = new Map<string, number>();
  private readonly words: Map<string, string[]>;

  constructor(texts: ReadonlyMap<string, string>) {
    this.words = new Map([...texts].map(([key, text]) => [key, wordsOf(text)]));
    for (const words of this.words.values()) for (const word of words) this.frequency.set(word, (this.frequency.get(word) ?? 0) + 1);
  }

  /** Cosine of two texts, 0-1; 0 where one has no words. */
  cosine(a: string, b: string): number {
    const [first, second] = [this.words.get(a) ?? [], new Set(this.words.get(b) ?? [])];
    const lengths = this.square(first) * this.square(second);
    return lengths === 0 ? 0 : Math.min(1, this.square(first.filter((word) => second.has(word))) / Math.sqrt(lengths));
  }

  private square(words: Iterable<string>): number {
    let sum = 0;
    for (const word of words) sum += Math.log(1 + this.words.size / (this.frequency.get(word) as number)) ** 2;
    return sum;
  }
}
