import { CATEGORIES } from '../../../src/lib/category';
import { categoryOf, slugify } from '../../../src/venues/prediction/categories';
import table from '../../../src/venues/prediction/category-table.json';

const byTags = (...tags: string[]): string => categoryOf({ tags, slugs: [] });
const bySlug = (...slugs: string[]): string => categoryOf({ tags: [], slugs });

describe('categories', () => {
  test('esports, mentions and weather are tried first, then the order of the list', () => {
    expect(byTags('sports', 'esports', 'counter-strike')).toBe('Esports');
    expect(byTags('politics', 'mention-markets')).toBe('Mentions');
    expect(byTags('science', 'weather')).toBe('Weather');
    expect(byTags('geopolitics', 'politics', 'world')).toBe('Politics');
    expect(byTags('geopolitics', 'ukraine')).toBe('World');
    expect(byTags('crypto', 'sports')).toBe('Sports');
    expect(byTags('pop-culture', 'ai')).toBe('Tech');
    expect(byTags('rewards-20-4pt5-50')).toBe('Other');
  });

  test('tags speak before the old category, that before slugs', () => {
    expect(categoryOf({ tags: ['crypto'], old_category: 'Sports', slugs: ['nba-a-b'] })).toBe('Crypto');
    expect(categoryOf({ tags: ['all'], old_category: 'Pop-Culture ', slugs: ['nba-a-b'] })).toBe('Culture');
    expect(categoryOf({ tags: [], old_category: 'NFTs', slugs: [] })).toBe('Crypto');
    expect(categoryOf({ tags: [], old_category: 'Nothing known', slugs: ['nba-a-b'] })).toBe('Sports');
  });

  test.each([
    ['btc-updown-5m-1773346800', 'Crypto'],
    ['nba-den-mem-2026-01-25', 'Sports'],
    ['fifwc-fra-esp-2026-07-14-fra', 'Sports'],
    ['cs2-ace1-bbp-2026-01-23', 'Esports'],
    ['lol-gen-jdg-2026-03-17-game1-both-teams-slay-baron', 'Esports'],
    ['highest-temperature-in-london-on-march-11-2026-13c', 'Weather'],
    ['will-trump-say-eighth-war-during-ukraine-president-events-on-december-28', 'Mentions'],
    ['will-jensen-huang-say-autonomous-at-the-nvidia-gtc-keynote', 'Mentions'],
    ['will-the-republican-party-win-the-id-01-house-seat', 'Politics'],
    ['fed-rate-cut-by-april-2026-meeting', 'Economics'],
    ['spx-above-8000-dec-2026', 'Finance'],
    ['will-anthropic-have-the-top-ai-model-at-the-end-of-march-2026', 'Tech'],
    ['will-luxembourg-be-the-jury-winner-in-the-eurovision-2026-grand-final', 'Culture'],
    ['us-strikes-iran-by-january-31-2026', 'World'],
    ['2026-cbb-cusa-champion-new-mexico-state', 'Sports'],
    ['pro-baseball-2026-al-mvp-aaron-judge', 'Sports'],
    ['will-eurusd-hit-1pt20-high-in-2026', 'Finance'],
    ['will-kospi-composite-ks11-hit-6500-high-in-q1-2026', 'Finance'],
    ['bachelorette-season-22-winner', 'Culture'],
    ['nothing-of-the-kind', 'Other'],
  ])('%s is %s', (slug, category) => {
    expect(bySlug(slug)).toBe(category);
  });

  test('titles speak where there is no slug; a game is a sport unless its slug says which electronic one', () => {
    expect(bySlug('XRP Up or Down - January 8, 5:15PM-5:30PM ET')).toBe('Crypto');
    expect(bySlug('Dota 2: Spirit Academy vs Inner Circle (BO1)')).toBe('Esports');
    expect(categoryOf({ tags: [], is_game: true, slugs: ['unheard-of-league-a-b-2026-01-01'] })).toBe('Sports');
    expect(categoryOf({ tags: [], is_game: true, slugs: ['dota2-a-b-2026-01-01'] })).toBe('Esports');
    expect(slugify('  Will “Ångström” win?  ')).toBe('will-ngstr-m-win');
  });

  test('the table names known categories, each tag once', () => {
    const named = [
      ...Object.keys(table.tags),
      ...Object.values(table.old_categories),
      ...table.slug_rules.map(([category]) => category as string),
    ];
    expect(named.filter((name) => !(CATEGORIES as readonly string[]).includes(name))).toEqual([]);
    const tags = Object.values(table.tags).flat();
    expect(tags.filter((tag, index) => tags.indexOf(tag) !== index)).toEqual([]);
    expect(Object.keys(table.tags).sort()).toEqual(CATEGORIES.filter((category) => category !== 'Other').sort());
    expect(table.source).toMatch(/Gamma/);
  });
});
