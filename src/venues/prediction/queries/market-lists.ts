import type { Sql, Statement } from '../../../db/sql';
import type { pm_market as MarketRecord } from '../../../generated/prisma/client';
import { activeAt } from './active-markets';
import { Parameters } from './parameters';

const SHOWN_COLUMNS = [
  'condition_id',
  'question',
  'slug',
  'event_slug',
  'category',
  'end_date',
  'created_at',
  'closed_at',
  'resolved_at',
  'winning_outcome',
  'is_voided',
] as const satisfies readonly (keyof MarketRecord)[];

/** What is shown of a market in a list of markets. */
export type ShownMarket = Pick<MarketRecord, (typeof SHOWN_COLUMNS)[number]>;

/** What a listing needs of a market before it chooses. */
export type ListedMarket = ShownMarket & Pick<MarketRecord, 'tags' | 'outcomes'>;

export type ListedStatus = 'active' | 'closing_soon' | 'resolved' | 'all';

/** Which markets; nulls do not restrict. */
export interface ListScope {
  status: ListedStatus;
  category: string | null;
  /** Texts of which each must be somewhere in question, slug, outcomes or tags, lower case. */
  words: readonly string[] | null;
  /** Ids and slugs of which one must be the market's own or its event's. */
  exactly: readonly string[] | null;
  /** Resolved at this instant or later. */
  resolved_from: Date | null;
}

/** Hours before its end in which an active market counts as closing soon. */
const SOON_HOURS = 72;

/** SQL: a market (of pm_market) has that status at `now`. */
export function statusAt(status: ListedStatus, market: string, now: string): string {
  switch (status) {
    case 'active':
      return activeAt(market, now);
    case 'closing_soon':
      return `${activeAt(market, now)} AND ${market}.end_date <= ${now}::timestamptz + interval '${SOON_HOURS} hours'`;
    case 'resolved':
      return `${market}.resolved_at <= ${now} AND ${statusAt('all', market, now)}`;
    case 'all':
      return `(${market}.created_at IS NULL OR ${market}.created_at <= ${now})`;
  }
}

// Lowered as words are, whatever the database's language: that of Turkish makes no i of I.
const TEXT = `lower(concat_ws(' ', question, slug, event_slug, array_to_string(outcomes, ' '), array_to_string(tags, ' ')) COLLATE "C")`;

const patternOf = (word: string): string => `%${word.replace(/[\\%_]/g, '\\$&')}%`;

const isAscii = (word: string): boolean => /^\p{ASCII}*$/u.test(word);

/** A pattern of a word in either case: the C locale lowers no letters beyond ASCII. */
const eitherCase = (word: string): string =>
  word.replace(/\./g, '\\.').replace(/\P{ASCII}/gu, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** SQL of the markets in scope as of `now`, in no order; its values must be the first of `parameters`. */
export function listedMarkets(scope: ListScope, now: Date, parameters: Parameters): string {
  const foreign = scope.words?.filter((word) => !isAscii(word)).map(eitherCase) ?? [];
  const patterns = scope.words?.filter(isAscii).map(patternOf) ?? null;
  parameters.values.push(now, scope.category, patterns, scope.exactly, scope.resolved_from, foreign.length > 0 ? foreign : null);
  return `SELECT ${SHOWN_COLUMNS.join(', ')}, tags, outcomes FROM pm_market AS market WHERE ${statusAt(scope.status, 'market', '$1')} AND ($2::text IS NULL OR category = $2) AND ($3::text[] IS NULL OR ${TEXT} LIKE ALL ($3))
  AND ($6::text[] IS NULL OR ${TEXT} ~ ALL ($6)) AND ($4::text[] IS NULL OR condition_id = ANY ($4) OR slug = ANY ($4) OR event_slug = ANY ($4)) AND ($5::timestamptz IS NULL OR resolved_at >= $5)`;
}

/** Markets in scope as of `now`, in no order. */
export function listMarkets(sql: Sql, scope: ListScope, now: Date): Promise<ListedMarket[]> {
  const parameters = new Parameters();
  const text = listedMarkets(scope, now, parameters);
  return sql.query<ListedMarket>({ name: `pm_list_${scope.status}`, text }, parameters.values);
}

/** Whether there is a market in scope as of `now`. */
export async function hasMarkets(sql: Sql, scope: ListScope, now: Date): Promise<boolean> {
  const parameters = new Parameters();
  const text = `SELECT condition_id FROM (${listedMarkets(scope, now, parameters)}) AS listed LIMIT 1`;
  return (await sql.query({ name: `pm_any_${scope.status}`, text }, parameters.values)).length > 0;
}

const SHOWN: Statement = {
  name: 'pm_shown_markets',
  keyed: true,
  text: `SELECT ${SHOWN_COLUMNS.join(', ')} FROM pm_market WHERE condition_id = ANY ($1)`,
};

/** What is shown of these markets, in no order; unknown ones are not told. */
export const listShownMarkets = (sql: Sql, condition_ids: readonly string[]): Promise<ShownMarket[]> =>
  sql.query<ShownMarket>(SHOWN, [condition_ids]);

/** A market and when it was resolved. */
export interface ResolvedMarket {
  condition_id: string;
  resolved_at: Date;
}

const RESOLVED: Statement = {
  name: 'pm_list_newest_resolved',
  text: `SELECT condition_id, resolved_at FROM pm_market AS market WHERE ${statusAt('resolved', 'market', '$1')} AND ($2::text IS NULL OR category = $2) AND ($3::timestamptz IS NULL OR resolved_at >= $3)
  AND resolved_at <= COALESCE($4::timestamptz, $1) AND ($4::timestamptz IS NULL OR resolved_at < $4 OR condition_id COLLATE "C" > $5) ORDER BY resolved_at DESC, condition_id COLLATE "C" LIMIT $6`,
};

/** At most `limit` markets resolved up to `now` that stand behind `after`: the last resolved first, ties by id. */
export function listNewestResolved(
  sql: Sql,
  { category, resolved_from }: Pick<ListScope, 'category' | 'resolved_from'>,
  after: ResolvedMarket | null,
  limit: number,
  now: Date,
): Promise<ResolvedMarket[]> {
  const values = [now, category, resolved_from, after?.resolved_at ?? null, after?.condition_id ?? null, limit];
  return sql.query<ResolvedMarket>(RESOLVED, values);
}

/** What a listing by end tells of a market. */
export interface EndingMarket extends Pick<ListedMarket, 'condition_id' | 'question' | 'slug' | 'category'> {
  end_date: Date;
}

const ENDING: Statement = {
  name: 'pm_list_ending',
  text: `SELECT condition_id, question, slug, category, end_date FROM pm_market AS market WHERE ${activeAt('market', '$1')} AND end_date <= $2 AND ($3::text IS NULL OR category = $3)`,
};

/** Active markets whose end lies after `now` and not after `until`. */
export function listEnding(sql: Sql, category: string | null, now: Date, until: Date): Promise<EndingMarket[]> {
  return sql.query<EndingMarket>(ENDING, [now, until, category]);
}

const NEXT: Statement = {
  name: 'pm_next_ending',
  text: `SELECT min(end_date) AS at FROM pm_market AS market WHERE ${activeAt('market', '$1')} AND ($2::text IS NULL OR category = $2)`,
};

/** When the next active market ends; null when none has an end. */
export async function findNextEnd(sql: Sql, category: string | null, now: Date): Promise<Date | null> {
  const [row] = await sql.query<{ at: Date | null }>(NEXT, [now, category]);
  return row?.at ?? null;
}
