import { MACHINE_TAGS } from '../../../../src/venues/prediction/scoring/tiers';
import { type PmBehaviour, type PmTag, isSpecialist, tagsOf } from '../../../../src/venues/prediction/scoring/tags';
import { DAY, NOW, daysAgo } from './planted';

const nobody: PmBehaviour = {
  score: 50,
  largest_position_usdc: 100,
  top_category_share: 0.4,
  top_category_positions: 40,
  first_trade_at: daysAgo(400),
  largest_event_share: 0.1,
  against_leader_share: 0.4,
  trades: 1000,
  active_days: 100,
  median_gap_seconds: 600,
  median_hold_seconds: 86_400,
  both_sides_share: 0.1,
  self_trade_share: 0,
  insider_score: 10,
  copy_score: 0.1,
};

const maker = { both_sides_share: 0.61, median_hold_seconds: 3599, trades: 500 };

test.each<[string, Partial<PmBehaviour>, PmTag[]]>([
  ['nobody', {}, []],
  ['elite', { score: 80 }, ['elite']],
  ['smart', { score: 79.9 }, ['smart']],
  ['smart from 60', { score: 60 }, ['smart']],
  ['average', { score: 59.9 }, []],
  ['dumb', { score: 30 }, ['dumb']],
  ['the worst', { score: 0 }, ['dumb']],
  ['not dumb', { score: 30.1 }, []],
  ['unscored is not dumb', { score: null }, []],
  ['whale', { largest_position_usdc: 50_000 }, ['whale']],
  ['no whale', { largest_position_usdc: 49_999.99 }, []],
  ['specialist', { top_category_share: 0.6, top_category_positions: 10 }, ['specialist']],
  ['specialist by $0.816 of $1.36', { top_category_share: 0.816 / 1.36, top_category_positions: 10 }, ['specialist']],
  ['no specialist by share', { top_category_share: 0.59 }, []],
  ['no specialist by positions', { top_category_share: 0.9, top_category_positions: 9 }, []],
  ['fresh', { first_trade_at: new Date(NOW.getTime() - 14 * DAY + 1) }, ['fresh']],
  ['two weeks are not fresh', { first_trade_at: daysAgo(14) }, []],
  ['one hit', { largest_event_share: 0.6 }, ['one_hit']],
  ['one hit of $0.816 among $1.36', { largest_event_share: 0.816 / 1.36 }, ['one_hit']],
  ['no hit', { largest_event_share: 0.5999 }, []],
  ['contrarian', { against_leader_share: 0.51 }, ['contrarian']],
  ['half is not most', { against_leader_share: 0.5 }, []],
  ['market maker', maker, ['market_maker']],
  ['both sides of 60 % are not more', { ...maker, both_sides_share: 0.6 }, []],
  ['an hour is not less', { ...maker, median_hold_seconds: 3600 }, []],
  ['499 trades', { ...maker, trades: 499 }, []],
  ['bot by the day', { trades: 5000, active_days: 10 }, ['hft_bot']],
  ['less than 500 a day', { trades: 4999, active_days: 10 }, []],
  ['bot by gap', { trades: 200, median_gap_seconds: 4.9 }, ['hft_bot']],
  ['five seconds', { trades: 200, median_gap_seconds: 5 }, []],
  ['few trades, fast', { trades: 199, median_gap_seconds: 1 }, []],
  ['wash', { self_trade_share: 0.3 }, ['wash']],
  ['no wash', { self_trade_share: 0.29 }, []],
  ['insider', { insider_score: 50 }, ['insider_pattern']],
  ['no insider', { insider_score: 49.9 }, []],
  ['copier', { copy_score: 0.5 }, ['copy_trader']],
  ['no copier', { copy_score: 0.49 }, []],
  [
    'all unknown',
    {
      score: null,
      top_category_share: null,
      first_trade_at: null,
      largest_event_share: null,
      against_leader_share: null,
      active_days: 0,
      median_gap_seconds: null,
      median_hold_seconds: null,
      both_sides_share: null,
      self_trade_share: null,
      insider_score: null,
      copy_score: null,
    },
    [],
  ],
  ['several, in order', { score: 90, ...maker, self_trade_share: 1, median_gap_seconds: 1 }, ['elite', 'market_maker', 'hft_bot', 'wash']],
])('%s', (_name, changes, tags) => expect(tagsOf({ ...nobody, ...changes }, NOW)).toEqual(tags));

test('machines are told by these tags', () => {
  const machine = tagsOf({ ...nobody, ...maker, median_gap_seconds: 1, self_trade_share: 1 }, NOW);
  expect(machine).toEqual([...MACHINE_TAGS]);
});

test('specialist of one category', () =>
  expect([isSpecialist(0.6, 10), isSpecialist(0.6, 9), isSpecialist(null, 99)]).toEqual([true, false, false]));

test('a share that is at its bound by its decimals is there, whatever binary fractions make of it', () => {
  expect(4.02 / 6.7).toBeLessThan(0.6);
  expect([isSpecialist(4.02 / 6.7, 10), isSpecialist(0.599999, 10)]).toEqual([true, false]);
  expect(tagsOf({ ...nobody, largest_event_share: 4.02 / 6.7 }, NOW)).toEqual(['one_hit']);
});
