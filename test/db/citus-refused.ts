/** Statements that a Citus cluster refuses, by name, and what stands in the way. */
type Refused = Readonly<Record<string, string>>;

const CATALOGUE =
  'begins at the catalogue, which stands on every node, and reads facts for each of its rows; has to begin at the facts instead';
const CORRELATED =
  'a subquery reads a row of another step of the statement (a CTE, a list that was given); has to be a join, grouped before';
const ACROSS = 'joins tables that stand by different columns other than by those; has to be grouped or materialized on one side before';

const RECURRING = 'an outer join begins at rows that come with the statement, or at a union with them; has to begin at a table';

/** Each was refused by Citus 13.2 on PostgreSQL 15; all other statements of questions, and all that load and score, do there as on one PostgreSQL. */
export const REFUSED_QUESTIONS: Refused = {
  perps_coins_list_volume: CATALOGUE,
  perps_coins_trending_volume_spike: ACROSS,
  perps_leaderboard_candidates_7: 'an outer join beside a condition on parameters alone, which takes PostgreSQL 17',
  perps_positions: CORRELATED,
  perps_pressure_pairs: CORRELATED,
  perps_pressure_pairs_told: ACROSS,
  perps_smart_positions: CORRELATED,
  pm_copy_within: CORRELATED,
  pm_position_words: RECURRING,
  pm_settled_crowds: ACROSS,
  pm_shared_sides: RECURRING,
  pm_smart_wallet_earlier: CORRELATED,
  pm_smart_wallet_flows_entered: ACROSS,
  pm_smart_wallet_flows_entered_told: ACROSS,
  pm_takers_on_1_0: CORRELATED,
  pm_takers_on_1_1: CORRELATED,
  pm_takers_on_1_2: CORRELATED,
  pm_told_gains: ACROSS,
  pm_wallets_holdings: RECURRING,
  pm_wallets_open_positions: RECURRING,
  pm_wallets_unrealized: RECURRING,
};
