import { payoutByName } from '../sources/settlement';

// The newest fill tells it, unless it came later: then the newest hour that began before does, unless a fill of it came later: then its facts, or the hour before it.
const lastFill = (token: string, now: string): string => {
  const hours = `FROM pm_token_hour AS kept WHERE kept.condition_id = token.condition_id AND kept.token_id = ${token} AND kept.hour`;
  return `(SELECT CASE WHEN newest.close_at < ${now} THEN newest.close ELSE (SELECT CASE WHEN kept.close_at < ${now} THEN kept.close ELSE COALESCE((SELECT trade.price FROM pm_trade AS trade
      WHERE trade.condition_id = token.condition_id AND trade.token_id = ${token} AND trade.side IN ('BUY', 'SELL')
      AND trade."timestamp" >= kept.hour AND trade."timestamp" < ${now} ORDER BY trade."timestamp" DESC, trade.trade_id DESC LIMIT 1),
    (SELECT kept.close ${hours} < date_trunc('hour', ${now}, 'UTC') ORDER BY kept.hour DESC LIMIT 1)) END ${hours} < ${now} ORDER BY kept.hour DESC LIMIT 1) END
  FROM pm_token_last AS newest WHERE newest.condition_id = token.condition_id AND newest.token_id = ${token})`;
};

const OUTCOMES = '(SELECT count(*) FROM pm_outcome AS one WHERE one.condition_id = token.condition_id)';

/**
 * SQL of the price of `token` (of pm_outcome) on `market` (of pm_market) before `now`: its payout once resolved, else its last
 * fill, else 1 less the other's, else the catalogue's. What is not needed is not looked for.
 */
export const tokenPrice = (
  now: string,
): string => `CASE WHEN market.resolved_at <= ${now} THEN COALESCE(token.payout, CASE WHEN token.token_id IS NOT NULL THEN ${payoutByName('token.outcome')} END)
ELSE COALESCE(CASE WHEN token.token_id IS NOT NULL THEN ${lastFill('token.token_id', now)} END,
  (SELECT 1 - ${lastFill('other.token_id', now)} FROM pm_outcome AS other
    WHERE other.condition_id = token.condition_id AND other.token_id <> token.token_id AND ${OUTCOMES} = 2),
  CASE WHEN token.price_at IS NULL OR token.price_at <= ${now} THEN token.price END) END`;

/** SQL of joins that bring `market` and `token` to the item of FROM named position: every position's market is on record. */
// Prices are looked up beside the token, which stands by its market in a cluster; a position may come with the statement.
export const WITH_TOKEN = `JOIN pm_market AS market ON market.condition_id = position.condition_id
LEFT JOIN pm_outcome AS token ON token.condition_id = market.condition_id AND token.token_id = position.token_id`;
