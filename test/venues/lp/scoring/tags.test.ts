import { type LpBehaviour, type LpTag, tagsOf } from '../../../../src/venues/lp/scoring/tags';

const NOW = new Date('2026-03-20T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);

const nobody: LpBehaviour = {
  score: 50,
  largest_position_usd: 100,
  first_event_at: daysAgo(100),
  deposits_with_amounts: 10,
  single_sided_deposits: 4,
  deposits_with_pool_age: 10,
  young_pool_deposits: 4,
};

test.each<[string, Partial<LpBehaviour>, LpTag[]]>([
  ['nobody', {}, []],
  ['elite', { score: 80 }, ['elite']],
  ['smart', { score: 79.9 }, ['smart']],
  ['smart from 60', { score: 60 }, ['smart']],
  ['not smart', { score: 59.9 }, []],
  ['whale', { largest_position_usd: 50_000 }, ['whale']],
  ['fresh', { first_event_at: daysAgo(13.9) }, ['fresh']],
  ['two weeks', { first_event_at: daysAgo(14) }, []],
  ['single sided', { single_sided_deposits: 5 }, ['single_sided']],
  ['sniper', { young_pool_deposits: 5 }, ['sniper']],
  [
    'all unknown',
    {
      score: null,
      largest_position_usd: null,
      first_event_at: null,
      deposits_with_amounts: 0,
      single_sided_deposits: 0,
      deposits_with_pool_age: 0,
      young_pool_deposits: 0,
    },
    [],
  ],
])('%s', (_name, changes, tags) => expect(tagsOf({ ...nobody, ...changes }, NOW)).toEqual(tags));
