import type { Sql, Statement } from '../../../db/sql';
import { LATEST_UNTIL } from '../rollups/smart-latest';
import { SMART_SCORE } from '../scoring/tiers';
import { Parameters } from './parameters';
import type { Cut, SmartRule } from './pieces';
import { type ToldHours, stateOf, toldWalletPieces } from './told-pieces';

const UNTIL: Statement = { name: 'pm_smart_latest_until', keyed: true, text: LATEST_UNTIL };

/** Smart wallets of a category; `told` as of toldPieces. */
interface CategoryTraders {
  label: string;
  traders: number;
  told: number;
}

/**
 * Smart wallets by category (one or all) that did anything within a cut of two bounds: by when they last did, and from their hours where these are torn or not among
 * those. Null where that does not do: the cut ends before, hours within it are neither told nor kept, or wallets count from another score.
 */
export async function listLatestSmart(
  sql: Sql,
  cut: Cut,
  rule: SmartRule,
  hours: ToldHours,
  category: string | null,
): Promise<CategoryTraders[] | null> {
  if (rule.min_score !== SMART_SCORE || hours.untold.length > 0 || cut.bounds.length !== 2) return null;
  const [known] = await sql.query<{ until: Date }>(UNTIL, []);
  if (known === undefined || known.until <= cut.whole.from || known.until > cut.whole.to) return null;
  const { until } = known;
  const parameters = new Parameters();
  const rest = toldWalletPieces({ ...cut, whole: { from: until, to: cut.whole.to } }, rule, hours, { category }, parameters);
  const [from, end] = [parameters.add(cut.whole.from, 'timestamptz'), parameters.add(until, 'timestamptz')];
  const only = category === null ? '' : ` AND category = ${parameters.add(category, 'text')}`;
  // Read at once with what it holds for: a state that none is where it is of others now. Who is not among the kept, few, is looked up: telling all apart takes twice as long as counting.
  const text = `SELECT category AS label, sum(wallets)::int AS traders, CASE WHEN EXISTS (SELECT 1 FROM (${LATEST_UNTIL}) AS known WHERE until = ${end}) THEN ${stateOf(hours, parameters)} ELSE -1 END AS told FROM (
  SELECT category, count(*) AS wallets FROM pm_smart_latest WHERE hour >= ${from}${only} GROUP BY category
  UNION ALL SELECT since.category, count(*) FROM (SELECT category, wallet FROM (${rest}) AS piece GROUP BY 1, 2) AS since
  LEFT JOIN pm_smart_latest AS kept ON kept.wallet = since.wallet AND kept.category = since.category AND kept.hour >= ${from} WHERE kept.wallet IS NULL GROUP BY since.category
) AS traded GROUP BY category`;
  const name = `pm_latest_smart${category === null ? '' : '_category'}`;
  return sql.query<CategoryTraders>({ name, text, keyed: true }, parameters.values);
}
