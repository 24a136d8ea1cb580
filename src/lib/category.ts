import { nearest } from './nearest';

/** Categories of prediction markets, as answers list them; which one a market gets is told by categoryOf. */
export const CATEGORIES = [
  'Politics',
  'Sports',
  'Crypto',
  'Finance',
  'Tech',
  'Culture',
  'Economics',
  'World',
  'Weather',
  'Mentions',
  'Esports',
  'Other',
] as const;

export type Category = (typeof CATEGORIES)[number];

const OTHER_NAMES: Record<string, Category> = {
  geopolitics: 'World',
  'pop-culture': 'Culture',
  entertainment: 'Culture',
  science: 'Tech',
  technology: 'Tech',
  ai: 'Tech',
  business: 'Finance',
};

/** The category of any accepted spelling (any case, known other names), or undefined. */
export function canonicalCategory(text: string): Category | undefined {
  const lower = text.toLowerCase();
  return (
    CATEGORIES.find((category) => category.toLowerCase() === lower) ?? (Object.hasOwn(OTHER_NAMES, lower) ? OTHER_NAMES[lower] : undefined)
  );
}

/** The category that a mistyped spelling, or a mistyped other name, may have meant. */
export function categoryMeant(text: string): Category | undefined {
  const name = nearest(text, [...CATEGORIES, ...Object.keys(OTHER_NAMES)]);
  return name === undefined ? undefined : canonicalCategory(name);
}
