import type { Sql, Statement } from '../../../db/sql';
import { SMART_SCORE } from '../scoring/tiers';
import { activeMarkets } from './active-markets';

/** Which fills are looked for; null: any. */
export interface FillScope {
  condition_id: string | null;
  category: string | null;
  /** Only of wallets that are smart in the newest run. */
  smart: boolean;
  /** Only on markets that are active. */
  active?: boolean;
}

/** How far back such a fill is looked for first, where there mostly is one: all hours are read for what is rare alone. */
const LATELY = ['2 hours', '1 day'];

const statement = (scope: FillScope): Statement => {
  const market = scope.condition_id !== null;
  const table = scope.smart ? 'pm_wallet_hour' : 'pm_token_hour';
  const newest = scope.smart ? 'last_at' : 'close_at';
  const category = scope.category === null ? null : `$${market ? 3 : 2}`;
  const markets = scope.active
    ? activeMarkets('$1', category)
    : category && `SELECT condition_id FROM pm_market WHERE category = ${category}`;
  const among = markets === null ? [] : [`condition_id IN (${markets})`];
  if (scope.smart)
    among.push(
      `wallet IN (SELECT wallet FROM pm_wallet_score WHERE score >= ${SMART_SCORE} AND day = (SELECT max(day) FROM pm_wallet_score WHERE day <= $1))`,
    );
  const where = (conditions: readonly string[]): string =>
    ['hour <= $1', ...(market ? ['condition_id = $2'] : []), ...conditions, ...(scope.smart ? [] : ['buys + sells > 0'])].join(' AND ');
  const last = (conditions: readonly string[]): string =>
    `(SELECT ${newest} FROM ${table} WHERE ${where(conditions)} ORDER BY hour DESC LIMIT 1)`;
  // As truth values they are hashed, not joined: the hours of a stretch are read, not those of all wallets and markets.
  const lately = LATELY.map((length) =>
    last([`hour > $1::timestamptz - interval '${length}'`, ...among.map((condition) => `(${condition}) IS TRUE`)]),
  );
  return {
    name: `pm_newest_fill${market ? '_market' : ''}${category === null ? '' : '_category'}${scope.active ? '_active' : ''}${scope.smart ? '_smart' : ''}`,
    keyed: market && category === null,
    // Of one market all hours are read: looked for from the newest hour back, a market that is long silent has everybody's in front.
    text: market
      ? `SELECT max(${newest}) AS at FROM ${table} WHERE ${where(among)}`
      : `SELECT COALESCE(${[...lately, last(among)].join(', ')}) AS at`,
  };
};

/** About when the newest fill in scope before `now` was, to the hour; null where there is none. */
export async function findNewestFill(sql: Sql, scope: FillScope, now: Date): Promise<Date | null> {
  const values = [now, ...(scope.condition_id === null ? [] : [scope.condition_id]), ...(scope.category === null ? [] : [scope.category])];
  const [row] = await sql.query<{ at: Date | null }>(statement(scope), values);
  const at = row?.at ?? null;
  return at !== null && at > now ? now : at;
}

const FIRST: Statement = {
  name: 'pm_first_fill',
  keyed: true,
  text: 'SELECT min(open_at) AS at FROM pm_token_hour WHERE hour = (SELECT min(hour) FROM pm_token_hour)',
};

/** When the first fill of all was; null while there is none. */
export async function getFirstFill(sql: Sql): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>(FIRST, []);
  return row?.at ?? null;
}
