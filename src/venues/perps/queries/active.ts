import { afterwards } from '../../../db/segments';
import { edgeOf } from './segments';
import type { LastDays } from '../rollups/last-days';
import { LIFE } from '../rollups/smart-trader-days';
import { nextDay } from './pieces';
import { type Narrowed, type Scored, narrow } from './span';

/** What tells accounts' last fills: rows `p` of those whose last fill meets a condition, one by one; and how many there are by day. */
interface Told {
  accounts: (within: (instant: string) => string) => string;
  days: LastDays;
  /** Of each coin, whichever is kept; else of any. */
  byCoin: boolean;
  /** Conditions on either, each after an AND. */
  kept?: (table: 'p' | 'd') => string;
}

/**
 * How many accounts were filled in the window $1, $2 (the first whole hour of it), $4 of a statement: rows to be added up, `coin` ('' for any) and
 * `traders`. The days they were filled last tell it; facts are only looked at for accounts that went on after the window.
 */
function activeRows({ accounts, days, byCoin, kept = () => '' }: Told): string {
  const [coin, same] = byCoin ? ['p.coin', ' AND f.coin = p.coin'] : ["''", ''];
  const since = accounts((instant) => `${instant} >= $1 AND ${instant} < ${nextDay('$2')}`);
  const after = accounts((instant) => `${instant} >= greatest($1::timestamptz, $4)`);
  return `
  SELECT d.coin, d.traders FROM ${days} d WHERE d.coin ${byCoin ? '<>' : '='} ''${kept('d')} AND $1::timestamptz IS NOT NULL AND d.day >= (SELECT ${nextDay('$2')})
  ${edgeOf(1, 'days_from', `UNION ALL SELECT ${coin}, count(*) FROM ${since}${kept('p')} GROUP BY 1`)}
  ${afterwards(
    '$4',
    `UNION ALL SELECT ${coin}, -count(*) FROM ${after}${kept('p')} AND NOT EXISTS (
    SELECT 1 FROM perp_fill f WHERE f.trader = p.trader AND f.timestamp >= $1 AND f.timestamp < $4${same}) GROUP BY 1`,
  )}`;
}

const summed = (rows: string): string => `SELECT coalesce(sum(traders), 0)::int AS traders FROM (${rows}) active`;

/** How many accounts were filled in the window $1, $2, $4, as a query. */
export const activeIn = (): string =>
  summed(activeRows({ accounts: (within) => `perp_trader p WHERE ${within('p.last_at')}`, days: 'perp_coin_last_day', byCoin: false }));

/** The same of each coin: `coin` and `count`. */
export const activeByCoin = (): string =>
  `SELECT coin, sum(traders)::int AS count FROM (${activeRows({ accounts: (within) => `perp_position p WHERE ${within('p.last_at')}`, days: 'perp_coin_last_day', byCoin: true })}) active GROUP BY coin`;

/** The run that is told, and the score from which it has smart accounts: parameters of the statement, or a figure. */
type SmartRun = Pick<Scored, 'day' | 'least'>;

// Names both, though who is smart is told.
const named = ({ day, least }: SmartRun): string => ` AND ${day}::date IS NOT NULL AND ${least}::numeric IS NOT NULL`;

/** How many smart accounts were filled in that window in each coin: rows to be added up, `coin` and `traders`. */
export const smartActiveRows = (run: SmartRun, narrowed: Pick<Narrowed, 'coin'> = {}): string =>
  activeRows({
    accounts: (within) => `perp_smart_trader_day p WHERE p.day = ${LIFE} AND ${within('p.last_at')}`,
    days: 'perp_smart_last_day',
    byCoin: true,
    kept: (table) => `${named(run)}${narrow(table, narrowed)}`,
  });

/** How many of them were filled in it, in one coin where one is given, as a query. */
export const smartActiveIn = (run: SmartRun, narrowed: Pick<Narrowed, 'coin'> = {}): string =>
  summed(
    narrowed.coin === undefined
      ? activeRows({
          // Who was filled last in any coin was so in one of them.
          accounts: (within) =>
            `perp_trader p WHERE ${within('p.last_at')} AND p.trader IN (SELECT l.trader FROM perp_smart_trader_day l WHERE l.day = ${LIFE} AND ${within('l.last_at')})`,
          days: 'perp_smart_last_day',
          byCoin: false,
          kept: () => named(run),
        })
      : smartActiveRows(run, narrowed),
  );
