/** Statements that a Citus cluster refuses, by name, and what stands in the way. */
type Refused = Readonly<Record<string, string>>;

const PRICES =
  'looks up prices, which stand by mint, for rows that stand by pool; token_price would have to stand on every node, which Citus allows of no partitioned table';
const CATALOGUE =
  'begins at the catalogue, which stands on every node, and reads facts for each of its rows; has to begin at the facts instead';
const CORRELATED =
  'a subquery reads a row of another step of the statement (a CTE, a list that was given); has to be a join, grouped before';
const ACROSS = 'joins tables that stand by different columns other than by those; has to be grouped or materialized on one side before';

const RECURRING = 'an outer join begins at rows that come with the statement, or at a union with them; has to begin at a table';

/** Of the questions: each was refused by Citus 13.2 on PostgreSQL 15, all other statements of questions answered as on one PostgreSQL. */
export const REFUSED_QUESTIONS: Refused = {
  lp_dca_pressure_0: PRICES,
  lp_fee_analysis_0: CATALOGUE,
  lp_fee_analysis_1: CATALOGUE,
  lp_heatmap_pools_00: CATALOGUE,
  lp_heatmap_pools_10: CATALOGUE,
  lp_liquidity_now: CATALOGUE,
  lp_owners_known: CORRELATED,
  lp_platform_totals: 'GROUPING SETS over distributed rows',
  lp_pool_detail: CATALOGUE,
  lp_pool_price: CATALOGUE,
  lp_pools_held: CATALOGUE,
  lp_pools_search_0: CORRELATED,
  lp_pools_search_1: CORRELATED,
  lp_pools_search_2: CORRELATED,
  lp_pools_top_volume_0: CATALOGUE,
  lp_pools_top_volume_0_life: CATALOGUE,
  lp_pools_top_volume_0_swapped: CATALOGUE,
  lp_pools_trending_7: CATALOGUE,
  lp_position_by_address: PRICES,
  lp_providers: PRICES,
  lp_scores_before: CORRELATED,
  lp_smart_pools_smart_lp_count_0: CORRELATED,
  lp_smart_pools_smart_lp_count_1: CORRELATED,
  lp_whales_00: CORRELATED,
  perps_coins_list_volume: CATALOGUE,
  perps_coins_trending_volume_spike: ACROSS,
  perps_leaderboard_candidates_7: 'an outer join beside a condition on parameters alone, which takes PostgreSQL 17',
  perps_positions: CORRELATED,
  perps_pressure_pairs: CORRELATED,
  perps_pressure_pairs_told: ACROSS,
  perps_smart_positions: CORRELATED,
  perps_timing: CORRELATED,
  pm_copy_within: CORRELATED,
  pm_position_words: RECURRING,
  pm_score_runs: 'a recursive walk over the days of runs, of all wallets',
  pm_settled_crowds: ACROSS,
  pm_shared_sides: RECURRING,
  pm_smart_wallet_earlier: CORRELATED,
  pm_smart_wallet_flows_entered: ACROSS,
  pm_smart_wallet_flows_entered_told: ACROSS,
  pm_takers_on_1_0: CORRELATED,
  pm_takers_on_1_1: CORRELATED,
  pm_takers_on_1_2: CORRELATED,
  pm_told_gains: ACROSS,
  pm_venue_state: 'a recursive walk over the days of runs, of all wallets',
  pm_wallets_holdings: RECURRING,
  pm_wallets_open_positions: RECURRING,
  pm_wallets_unrealized: RECURRING,
};

/** Of loading and the daily scores: with these, the pools neither load nor are scored there, and perps load but are not scored. */
export const REFUSED_WORK: Refused = {
  lp_append_events: PRICES,
  lp_append_swaps: PRICES,
  lp_prices_sol: PRICES,
  lp_prices_sol_staged: PRICES,
  lp_prices_sol_waiting: PRICES,
  lp_recount_results: PRICES,
  'INSERT INTO lp_owner_result (owner, pool_address, pool_type,': PRICES,
  lp_value_events: PRICES,
  lp_value_swaps: PRICES,
  lp_swaps_seen: 'marks pools, which stand on every node, by a table of the connection',
  'INSERT INTO perp_timing (trader, coin, day, opens, moved) WI': CORRELATED,
  perps_keep_dealt: 'joins the two sides of a match, which stand by account, by coin, time and id',
  perps_self_trades: 'joins the two sides of a match, which stand by account, by coin, time and id',
};
