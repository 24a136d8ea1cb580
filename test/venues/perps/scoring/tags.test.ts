import { type PerpBehaviour, type PerpTag, tagsOf } from '../../../../src/venues/perps/scoring/tags';

const NOW = new Date('2026-03-20T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * 86_400_000);

const nobody: PerpBehaviour = {
  score: 50,
  net_pnl: 1000,
  largest_coin_day_pnl: 100,
  largest_position_usd: 100,
  top_coin_share: 0.4,
  top_coin_round_trips: 40,
  first_trade_at: daysAgo(400),
  fills: 1000,
  active_days: 100,
  median_gap_seconds: 600,
  median_hold_seconds: 7200,
  maker_share: 0.3,
  net_volume: 500,
  gross_volume: 1000,
  self_trade_share: 0,
  is_vault: false,
  liquidations: 0,
  copy_score: null,
};

const maker = { fills: 500, maker_share: 0.8, net_volume: -100, gross_volume: 1000 };

test.each<[string, Partial<PerpBehaviour>, PerpTag[]]>([
  ['nobody', {}, []],
  ['elite', { score: 95 }, ['elite']],
  ['smart', { score: 85 }, ['smart']],
  ['not smart', { score: 84.9 }, []],
  ['unscored', { score: null }, []],
  ['whale', { largest_position_usd: 50_000 }, ['whale']],
  // 299.99999999999994 and 200 of a coin at 100.
  ['whale whose position carries noise', { largest_position_usd: 49_999.999_999_999_99 }, ['whale']],
  ['no whale by a millionth', { largest_position_usd: 49_999.999_999 }, []],
  ['specialist', { top_coin_share: 0.6, top_coin_round_trips: 10 }, ['specialist']],
  ['few round trips', { top_coin_share: 0.6, top_coin_round_trips: 9 }, []],
  ['fresh', { first_trade_at: daysAgo(13) }, ['fresh']],
  ['two weeks', { first_trade_at: daysAgo(14) }, []],
  ['one hit', { largest_coin_day_pnl: 600 }, ['one_hit']],
  ['one hit of cents', { net_pnl: 0.5, largest_coin_day_pnl: 0.3 }, ['one_hit']],
  ['nothing gained is no hit', { net_pnl: 0, largest_coin_day_pnl: 0 }, []],
  ['a loss is no hit', { net_pnl: -1, largest_coin_day_pnl: 600 }, []],
  ['market maker', maker, ['market_maker']],
  ['499 fills', { ...maker, fills: 499 }, []],
  ['takes too often', { ...maker, maker_share: 0.79 }, []],
  ['keeps a tenth to the cent', { ...maker, net_volume: 1.12, gross_volume: 11.2 }, ['market_maker']],
  ['keeps too much', { ...maker, net_volume: 101 }, []],
  ['no volume', { ...maker, net_volume: 0, gross_volume: 0 }, []],
  ['bot by the day', { fills: 50_000 }, ['hft_bot']],
  ['bot by gap', { fills: 200, median_gap_seconds: 4 }, ['hft_bot']],
  ['few fast fills', { fills: 199, median_gap_seconds: 4 }, []],
  ['wash', { self_trade_share: 0.3 }, ['wash']],
  ['vault', { is_vault: true }, ['vault']],
  ['liquidated', { liquidations: 1 }, ['liquidated']],
  ['scalper', { median_hold_seconds: 899 }, ['scalper']],
  ['a quarter of an hour', { median_hold_seconds: 900 }, []],
  ['swing', { median_hold_seconds: 86_400 }, ['swing']],
  ['not a day', { median_hold_seconds: 86_399 }, []],
  ['copier', { copy_score: 0.5 }, ['copy_trader']],
  [
    'all unknown',
    {
      score: null,
      top_coin_share: null,
      first_trade_at: null,
      active_days: 0,
      median_gap_seconds: null,
      median_hold_seconds: null,
      maker_share: null,
      self_trade_share: null,
    },
    [],
  ],
])('%s', (_name, changes, tags) => expect(tagsOf({ ...nobody, ...changes }, NOW)).toEqual(tags));
