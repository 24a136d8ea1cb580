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

/** What a word that is in `n` of so many texts adds to the square of a text's length. */
const squareOf = (texts: number, n: number): number => Math.log(1 + texts / n) ** 2;

/** Counts are kept for minutes and asked many times: their squares are told once. */
const known = new WeakMap<WordCounts, ReadonlyMap<string, number>>();

function squaresOf(counts: WordCounts): ReadonlyMap<string, number> {
  const squares = known.get(counts) ?? new Map(counts.words.map(([word, n]) => [word, squareOf(counts.texts, n)]));
  known.set(counts, squares);
  return squares;
}

/** Texts as vectors of their words, each word weighed by ln(1 + texts / texts with it); a word that was not counted is in one. */
export class WordVectors {
  private readonly squares: ReadonlyMap<string, number>;
  private readonly unknown: number;
  private readonly texts: Map<string, { words: string[]; square: number }>;

  constructor(counts: WordCounts, texts: ReadonlyMap<string, string>) {
    this.squares = squaresOf(counts);
    this.unknown = squareOf(counts.texts, 1);
    this.texts = new Map(
      [...texts].map(([key, text]) => {
        const words = wordsOf(text);
        return [key, { words, square: this.square(words) }];
      }),
    );
  }

  /** Cosine of two texts, 0-1; 0 where one has no words. */
  cosine(a: string, b: string): number {
    const [first, second] = [this.texts.get(a), this.texts.get(b)];
    const lengths = (first?.square ?? 0) * (second?.square ?? 0);
    if (lengths === 0) return 0;
    return Math.min(1, this.square((first?.words ?? []).filter((word) => second?.words.includes(word))) / Math.sqrt(lengths));
  }

  private square(words: readonly string[]): number {
    let sum = 0;
    for (const word of words) sum += this.squares.get(word) ?? this.unknown;
    return sum;
  }
}
