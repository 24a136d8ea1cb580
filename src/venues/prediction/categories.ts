import type { Category } from '../../lib/category';
import table from './category-table.json';

/** What a market's category is judged by. */
export interface CategoryEvidence {
  /** The venue's own tags, by slug. */
  tags: readonly string[];
  /** The catalogue's `category` of 2020-2022. */
  old_category?: string | null;
  /** The catalogue's sports market type, where it has one. */
  is_game?: boolean;
  /** Slugs of market, event and series; a title where there is no slug. */
  slugs: readonly string[];
}

/** Esports, Mentions and Weather are also tagged sports, politics, science: they are tried first. */
const ORDER = [
  'Esports',
  'Mentions',
  'Weather',
  'Politics',
  'Sports',
  'Crypto',
  'Finance',
  'Tech',
  'Culture',
  'Economics',
  'World',
] as const satisfies readonly Category[];

const TAGS = new Map<Category, ReadonlySet<string>>(ORDER.map((category) => [category, new Set(table.tags[category])]));
const OLD_CATEGORIES = new Map(Object.entries(table.old_categories as Record<string, Category>));
const SLUG_RULES = (table.slug_rules as [Category, string][]).map(([category, pattern]) => ({ category, pattern: new RegExp(pattern) }));

/** A market's one category: by its tags in order; without a known tag by the old category, then by its slugs; else Other. */
export function categoryOf(evidence: CategoryEvidence): Category {
  return byTags(evidence.tags) ?? byOldCategory(evidence.old_category) ?? bySlugs(evidence) ?? 'Other';
}

function byTags(tags: readonly string[]): Category | undefined {
  return ORDER.find((category) => tags.some((tag) => TAGS.get(category)?.has(tag)));
}

const byOldCategory = (name: string | null | undefined): Category | undefined => OLD_CATEGORIES.get((name ?? '').trim().toLowerCase());

function bySlugs({ slugs, is_game }: CategoryEvidence): Category | undefined {
  const texts = slugs.map(slugify);
  for (const { category, pattern } of SLUG_RULES) {
    // A game is a sport unless its slug says which electronic one.
    if (is_game && category !== 'Esports') return 'Sports';
    if (texts.some((text) => pattern.test(text))) return category;
  }
  return undefined;
}

/** Lower case, words joined by hyphens: titles become comparable with slugs. */
export function slugify(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
