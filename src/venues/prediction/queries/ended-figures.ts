import { SHARPE_LEAST_SPREAD, SHARPE_MIN } from '../positions/figures';
import { LEAST_GAIN, S_PM } from '../scoring/parameters';

/** The Sharpe ratio's ranking value leans to 0 for few positions. */
export const SHARPE_PRIOR = 20;
const Z = S_PM.significant_z;

/** SQL of a position's return, cut; null where nothing was paid (LEAST and GREATEST pass over nulls). */
export const RETURN = `CASE WHEN paid_usdc > 0 THEN LEAST(GREATEST(gain::float8 / paid_usdc::float8, ${S_PM.return_min}), ${S_PM.return_max}) END`;

/** SQL of the returns' number, mean and deviation. The last two share one pass of PostgreSQL's. */
export const RETURNS = `count(*) FILTER (WHERE paid_usdc > 0)::int AS priced, avg(${RETURN}) AS mean, stddev_samp(${RETURN}) AS spread`;

/** SQL of the Sharpe ratio of RETURNS, as `sharpeOf` tells it. */
export const SHARPE = `CASE WHEN priced >= ${SHARPE_MIN} AND spread > ${SHARPE_LEAST_SPREAD} THEN mean / spread END`;

/** SQL of figures over ended positions, by wallet. */
export const COUNTS = `count(*) FILTER (WHERE status <> 'voided')::int AS counted, count(*) FILTER (WHERE status <> 'voided' AND gain >= ${LEAST_GAIN})::int AS wins`;

/** SQL of Wilson's lower bound of `wins` of `counted`. */
const WILSON = `GREATEST((wins / counted::float8 + ${Z ** 2} / (2 * counted) - ${Z} * sqrt(wins / counted::float8 * (1 - wins / counted::float8) / counted + ${Z ** 2} / (4.0 * counted * counted))) / (1 + ${Z ** 2} / counted), 0)`;

/** Metrics of ended positions alone. */
export type EndedMetric = 'sharpe' | 'roi' | 'win_rate' | 'pnl';

/** SQL of what wallets are ranked by, of their COUNTS and RANK_NEEDS. */
export const RANKS: Record<EndedMetric, string> = {
  sharpe: `${SHARPE} * priced / (priced + ${SHARPE_PRIOR}.0)`,
  roi: `COALESCE(mean, 0) * priced / (priced + ${S_PM.return_prior}.0)`,
  win_rate: `CASE WHEN counted > 0 THEN ${WILSON} END`,
  pnl: 'pnl::float8',
};

/** SQL of what a metric ranks by besides COUNTS. */
export const RANK_NEEDS: Record<EndedMetric, string> = {
  sharpe: `, ${RETURNS}`,
  roi: `, ${RETURNS}`,
  win_rate: '',
  pnl: ', sum(gain) AS pnl',
};
