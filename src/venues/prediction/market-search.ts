import { canonicalConditionId } from '../../lib/address';
import type { ListScope, ListedMarket } from './queries/market-lists';

/** What a search text asks for: markets named exactly, or words to be found; neither where there is no text. */
export type SearchText = Pick<ListScope, 'exactly' | 'words'>;

/** Reads a search text: a condition id, the address of a market or event page, or words. */
export function readSearch(text: string | null | undefined): SearchText {
  if (text === null || text === undefined) return { exactly: null, words: null };
  const trimmed = text.trim();
  const id = canonicalConditionId(trimmed);
  const exactly = id === undefined ? segmentsOf(trimmed) : [id];
  return { exactly, words: exactly === null ? wordsOf(trimmed) : null };
}

/** The last part of an address' path that can be a slug: the market's under its event's, or the event's alone. */
function segmentsOf(text: string): string[] | null {
  if (!/^(https?:\/\/|www\.|[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z]{2,}\/(event|market)\/)\S+$/i.test(text)) return null;
  try {
    const { pathname } = new URL(/^https?:/i.test(text) ? text : `https://${text}`);
    const last = pathname
      .split('/')
      .filter((segment) => segment !== '')
      .at(-1);
    const slug = decodeURIComponent(last ?? '').toLowerCase();
    // No slug holds control characters, and the store could not be asked for one that does.
    return /^\P{Cc}+$/u.test(slug) ? [slug] : [];
  } catch {
    return [];
  }
}

/** Words of a text, lower case, without punctuation around them. */
export const wordsOf = (text: string): string[] => [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.'’&-][\p{L}\p{N}]+)*/gu) ?? [])];

const IN_QUESTION = 1;
const IN_OTHERS = 0.8;
const WITHIN_A_WORD = 0.6;
const PHRASE_SHARE = 0.2;

/**
 * How well a market's texts match words, 0-1: four fifths the mean over the words (1 as a word of the question, 0.8 of outcomes, tags or slug, 0.6
 * within a word), one fifth whether they stand in the question as a phrase. The market's own slug is 1.
 */
export function relevanceOf(market: ListedMarket, words: readonly string[]): number {
  const question = (market.question ?? '').toLowerCase();
  if (words.length === 1 && (words[0] === market.slug || words[0] === market.event_slug)) return 1;
  const inQuestion = new Set(partsOf(question));
  const inOthers = new Set(partsOf([market.slug, market.event_slug, ...market.outcomes, ...market.tags].join(' ').toLowerCase()));
  const found = words.map((word) => (inQuestion.has(word) ? IN_QUESTION : inOthers.has(word) ? IN_OTHERS : WITHIN_A_WORD));
  const mean = found.reduce((sum, value) => sum + value, 0) / found.length;
  return (1 - PHRASE_SHARE) * mean + (question.includes(words.join(' ')) ? PHRASE_SHARE : 0);
}

/** Words of a text, and the parts of those that hyphens and dots join. */
function partsOf(text: string): string[] {
  return wordsOf(text).flatMap((word) => [word, ...word.split(/[.'’&-]/)]);
}
