import type { Sql, Statement } from '../../../db/sql';
import { positionsSql } from '../rollups/positions-as-of';
import type { PositionRow } from '../rollups/positions-row';
import { type Columns, byColumn, rowsOf } from './by-column';
import { inHalf, listHalves } from '../../../db/halves';
import { WITH_TOKEN, tokenPrice } from './token-price';

/** What is told of a position besides how it came about. */
export const KNOWN_COLUMNS = [
  'wallet',
  'condition_id',
  'token_id',
  'status',
  'shares',
  'redeemed_shares',
  'cost',
  'paid_shares',
  'paid_usdc',
  'received_shares',
  'received_usdc',
  'payout_usdc',
  'payout',
  'gain',
  'gain_sell',
  'gain_merge',
  'gain_conversion',
  'gain_resolution',
  'opened_at',
  'closed_at',
] as const satisfies readonly (keyof PositionRow)[];

/** A position with the words of its market and what a share of it is worth now, amounts and price exact decimal texts. */
export interface KnownPosition extends Pick<PositionRow, (typeof KNOWN_COLUMNS)[number]> {
  category: string;
  question: string | null;
  end_date: Date | null;
  neg_risk: boolean | null;
  outcome: string | null;
  outcome_index: number | null;
  price: string | null;
}

/** How what a position came to is sent. */
export const OWN_SENT: Columns<Pick<KnownPosition, (typeof KNOWN_COLUMNS)[number]>> = {
  wallet: 'plain',
  condition_id: 'plain',
  token_id: 'plain',
  status: 'plain',
  shares: 'exact',
  redeemed_shares: 'exact',
  cost: 'exact',
  paid_shares: 'exact',
  paid_usdc: 'exact',
  received_shares: 'exact',
  received_usdc: 'exact',
  payout_usdc: 'exact',
  payout: 'exact',
  gain: 'exact',
  gain_sell: 'exact',
  gain_merge: 'exact',
  gain_conversion: 'exact',
  gain_resolution: 'exact',
  opened_at: 'instant',
  closed_at: 'instant',
};

/** What is told of the outcome that a position is in. */
type Words = Omit<KnownPosition, (typeof KNOWN_COLUMNS)[number]>;

const WORDS: Columns<Words> = {
  category: 'plain',
  question: 'plain',
  end_date: 'instant',
  neg_risk: 'plain',
  outcome: 'plain',
  outcome_index: 'plain',
  price: 'exact',
};

/** How a KnownPosition is sent. */
const KNOWN: Columns<KnownPosition> = { ...OWN_SENT, ...WORDS };

/** Positions of wallets as of `now`; `overlay` is that of loadWalletsOverlay. */
export interface WalletsScope {
  wallets: readonly string[];
  now: Date;
  overlay: string;
}

const OWN_COLUMNS = KNOWN_COLUMNS.map((name) => `position.${name}`).join(', ');

/** SQL of Words of `positions`, an item of FROM named position; $2 is now. Where `priced` does not hold no price is looked for; `columns` of theirs go before. */
const wordsSql = (
  columns: string,
  positions: string,
  priced = 'true',
): string => `SELECT ${columns}COALESCE(market.category, 'Other') AS category,
  market.question, market.end_date, market.neg_risk, token.outcome, token.outcome_index, CASE WHEN ${priced} THEN ${tokenPrice('$2::timestamptz')} END AS price
FROM ${positions} ${WITH_TOKEN}`;

/** SQL of KnownPosition of `positions`, SQL of their rows. */
const knownSql = (positions: string, priced?: string): string => wordsSql(`${OWN_COLUMNS}, `, `(${positions}) AS position`, priced);

const OF_POSITIONS: Statement = {
  name: 'pm_position_words',
  keyed: true,
  text: byColumn(
    WORDS,
    `${wordsSql('', 'unnest($1::text[], $3::text[]) WITH ORDINALITY AS position(condition_id, token_id, place)')} ORDER BY place`,
  ),
};

/** Positions with the words of their markets, in the order given: looked up by key, which needs no plan of its own for each answer. */
export async function withWords<Row extends Pick<KnownPosition, 'condition_id' | 'token_id'>>(
  sql: Sql,
  rows: readonly Row[],
  now: Date,
): Promise<(Row & Words)[]> {
  if (rows.length === 0) return [];
  const values = [rows.map(({ condition_id }) => condition_id), now, rows.map(({ token_id }) => token_id)];
  const [told] = await sql.query(OF_POSITIONS, values);
  const words = rowsOf(WORDS, told);
  return rows.map((row, index) => Object.assign(row, words[index] as Words));
}

const OPEN_SQL = positionsSql('$2', '$3', `wallet = ANY ($1) AND status = 'open' AND paid_shares > 0`);

const OPEN_KNOWN = knownSql(OPEN_SQL);

const OPEN: Statement = { name: 'pm_wallets_open_positions', keyed: true, text: byColumn(KNOWN, OPEN_KNOWN) };

/** Positions of the wallets that are open, in no order. */
export async function listOpenPositions(sql: Sql, { wallets, now, overlay }: WalletsScope): Promise<KnownPosition[]> {
  const [told] = await sql.query(OPEN, [wallets, now, overlay]);
  return rowsOf(KNOWN, told);
}

/** SQL of what the shares of `position`, an open one, are worth before `now` less what they cost, as unrealizedOf tells it; `market` and `token` as of tokenPrice. */
export const unrealizedSql = (now: string): string => `trunc(position.shares * trunc(${tokenPrice(now)}, 18), 18) - position.cost`;

const UNREALIZED: Statement = {
  name: 'pm_wallets_unrealized',
  keyed: true,
  text: `SELECT position.wallet, sum(${unrealizedSql('$2::timestamptz')}) AS unrealized
FROM (${OPEN_SQL}) AS position ${WITH_TOKEN} GROUP BY position.wallet`,
};

/** Worth less cost of all open positions that have a price, by wallet, exact decimal texts; wallets without any are not told. */
export async function listUnrealized(sql: Sql, { wallets, now, overlay }: WalletsScope): Promise<Map<string, string>> {
  const rows = await sql.query<{ wallet: string; unrealized: string | null }>(UNREALIZED, [wallets, now, overlay]);
  return new Map(rows.flatMap(({ wallet, unrealized }) => (unrealized === null ? [] : [[wallet, unrealized] as const])));
}

/** What of an open position counts in a portfolio. */
export type Holding = HeldToken & Pick<KnownPosition, 'wallet' | 'shares' | 'cost' | 'paid_shares' | 'paid_usdc'>;

/** What is told of an outcome token that is held. */
type HeldToken = Pick<
  KnownPosition,
  'condition_id' | 'token_id' | 'category' | 'question' | 'end_date' | 'outcome' | 'outcome_index' | 'price'
>;

/** A wallet's part of one as it is sent: the wallet's place among those asked, from 1, and the token's id. */
type Share = Pick<KnownPosition, 'shares' | 'cost' | 'paid_shares' | 'paid_usdc'> & { place: number; held: string };

const SHARE: Columns<Share> = {
  place: 'plain',
  held: 'plain',
  shares: 'exact',
  cost: 'exact',
  paid_shares: 'exact',
  paid_usdc: 'exact',
};

const TOKEN: Columns<HeldToken> = {
  condition_id: 'plain',
  token_id: 'plain',
  category: 'plain',
  question: 'plain',
  end_date: 'instant',
  outcome: 'plain',
  outcome_index: 'plain',
  price: 'exact',
};

// What is told of a token is looked for, and sent, once, however many hold it. Of all tokens half.
const HOLDINGS: Statement = {
  name: 'pm_wallets_holdings',
  keyed: true,
  text: `WITH share AS MATERIALIZED (
  SELECT array_position($1::text[], wallet) AS place, condition_id, token_id AS held, shares, cost, paid_shares, paid_usdc FROM (${OPEN_SQL}) AS position WHERE ${inHalf('token_id', '$5')}
)
SELECT shares_told.*, tokens_told.* FROM (${byColumn(SHARE, 'SELECT * FROM share')}) AS shares_told, (${byColumn(
    TOKEN,
    `SELECT * FROM (
  SELECT position.condition_id, position.token_id, COALESCE(market.category, 'Other') AS category, question, end_date, outcome, outcome_index, ${tokenPrice('$2::timestamptz')} AS price
  FROM (SELECT DISTINCT condition_id, held AS token_id FROM share) AS position ${WITH_TOKEN}
) AS known WHERE $4::text IS NULL OR category = $4`,
  )}) AS tokens_told`,
};

/** Open positions of the wallets in short, of one category or all, in no order. */
export const listHoldings = (sql: Sql, scope: WalletsScope, category: string | null): Promise<Holding[]> =>
  listHalves((half) => listHalf(sql, scope, category, half));

async function listHalf(sql: Sql, { wallets, now, overlay }: WalletsScope, category: string | null, half: number): Promise<Holding[]> {
  const [told] = await sql.query(HOLDINGS, [wallets, now, overlay, category, half]);
  const tokens = new Map(rowsOf(TOKEN, told).map((token) => [token.token_id, token]));
  const holdings: Holding[] = [];
  for (const { place, held, shares, cost, paid_shares, paid_usdc } of rowsOf(SHARE, told)) {
    const token = tokens.get(held);
    if (token === undefined) continue;
    const { condition_id, token_id, question, outcome, outcome_index, end_date, price } = token;
    const wallet = wallets[place - 1] as string;
    // Named one by one: V8 is slow with thousands of objects that were spread.
    holdings.push({ wallet, condition_id, token_id, shares, cost, paid_shares, paid_usdc, category: token.category, question, end_date, outcome, outcome_index, price }); // prettier-ignore
  }
  return holdings;
}

const OF_TOKENS: Statement = {
  name: 'pm_wallets_token_positions',
  keyed: true,
  text: knownSql(positionsSql('$2', '$3', 'wallet = ANY ($1) AND token_id = ANY ($4) AND paid_shares > 0'), "position.status = 'open'"),
};

/** Positions of the wallets in any of these tokens, in no order; priced while open. */
export const listTokenPositions = (
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  tokens: readonly string[],
): Promise<KnownPosition[]> => sql.query<KnownPosition>(OF_TOKENS, [wallets, now, overlay, tokens]);
