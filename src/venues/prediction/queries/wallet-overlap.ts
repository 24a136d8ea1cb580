import type { Sql, Statement } from '../../../db/sql';
import type { Window } from '../../../lib/timeframe';
import { marketNumber } from '../rollups/market-number';
import { laterSql, positionsSql } from '../rollups/positions-as-of';
import { holdsTold } from '../rollups/told-categories';
import { sidesSql } from '../rollups/told-sides';
import { type Pair, type Reach, type SharedMarket, type Sides, overlapOf } from '../positions/overlap';
import { type Columns, byColumn, rowsOf } from './by-column';
import { type WalletsScope, unrealizedSql } from './known-positions';
import { WITH_TOKEN } from './token-price';

/** How far a wallet reached in a window. */
interface WalletReach extends Reach {
  wallet: string;
}

/** Two wallets, in the order asked, that had positions on one market at least in a window. */
export interface WalletPair extends Omit<Pair, 'a' | 'b'> {
  a: string;
  b: string;
}

/** A wallet's side of a market on which another has positions too: the outcome it put most into. */
export interface SharedSide {
  wallet: string;
  /** Among the wallets asked, from 1. */
  place: number;
  condition_id: string;
  question: string | null;
  token_id: string;
  /** Its token where it has no name. */
  outcome: string;
  net_shares: number;
  avg_buy_price: number;
  /** Of all outcomes: gained by now, realized or not, and USDC put in. */
  pnl: number;
  paid: number;
}

export interface WalletOverlap {
  reaches: WalletReach[];
  pairs: WalletPair[];
  /** On which two at least had positions; 0 when not asked for. */
  markets: number;
  /** In no order; null when not asked for. */
  sides: SharedSide[] | null;
}

/** SQL condition: `position` is one of `wallets`, open at some time of the window. */
const aliveOf = (wallets: string, position = ''): string =>
  `${position}wallet = ANY (${wallets}) AND ${position}paid_shares > 0 AND ${position}opened_at < $5 AND (${position}closed_at IS NULL OR ${position}closed_at >= $4)`;

/** As they are sent: what `array_send` writes of a list, in base64. */
type SentSides = Record<'wallet' | 'markets' | 'tokens' | 'net_usdc' | 'is_top' | 'opened_at', string>;

const LISTS = ['markets', 'tokens', 'net_usdc', 'is_top', 'opened_at'] as const;

const UNTOLD =
  'ARRAY(SELECT wanted.wallet FROM unnest($1::text[]) AS wanted(wallet) WHERE wanted.wallet NOT IN (SELECT told.wallet FROM told))';

// What is told of a wallet's whole life is all of it where nothing ended before the window.
const SIDES: Statement = {
  name: 'pm_wallets_sides',
  keyed: true,
  text: `WITH told AS MATERIALIZED (
  SELECT kept.* FROM pm_told_sides AS kept WHERE wallet = ANY ($1) AND ${holdsTold('kept.wallet', '$2')} AND (first_ended_at IS NULL OR first_ended_at >= $4)
)
SELECT wallet, ${LISTS.map((list) => `encode(array_send(${list}), 'base64') AS ${list}`).join(', ')} FROM (
  SELECT wallet, first_ended_at, ${LISTS.join(', ')} FROM told
  UNION ALL ${sidesSql(positionsSql('$2', '$3', aliveOf(UNTOLD)))}
) AS own`,
};

/** Bytes before the first element of a list, and before each: its length. */
const HEAD = 20;
const LENGTH = 4;

/** Reads a list that `array_send` wrote, its elements of `size` bytes each, into what `listOf` makes. */
function readList<Item, List extends Record<number, Item>>(
  sent: string,
  size: number,
  listOf: (length: number) => List,
  itemAt: (bytes: DataView, place: number) => Item,
): List {
  const { buffer, byteOffset, byteLength } = Buffer.from(sent, 'base64');
  const bytes = new DataView(buffer, byteOffset, byteLength);
  const length = Math.floor((byteLength - HEAD) / (LENGTH + size));
  const list: Record<number, Item> = listOf(length);
  for (let index = 0, place = HEAD + LENGTH; index < length; index += 1, place += LENGTH + size) list[index] = itemAt(bytes, place);
  return list as List;
}

const numbersOf = (sent: string): BigInt64Array =>
  readList(
    sent,
    8,
    (length) => new BigInt64Array(length),
    (bytes, place) => bytes.getBigInt64(place),
  );
const floatsOf = (length: number): Float64Array => new Float64Array(length);

const readSides = ({ markets, tokens, net_usdc, is_top, opened_at }: SentSides): Sides => ({
  markets: numbersOf(markets),
  tokens: numbersOf(tokens),
  nets: readList(net_usdc, 8, floatsOf, (bytes, place) => bytes.getFloat64(place)),
  tops: readList(
    is_top,
    1,
    (length) => new Uint8Array(length),
    (bytes, place) => bytes.getUint8(place),
  ),
  opened: readList(opened_at, 8, floatsOf, (bytes, place) => bytes.getInt32(place) * 0x1_0000_0000 + bytes.getUint32(place + 4)),
});

const NO_SIDES: Sides = {
  markets: new BigInt64Array(),
  tokens: new BigInt64Array(),
  nets: new Float64Array(),
  tops: new Uint8Array(),
  opened: new Float64Array(),
};

/** What each of the wallets put into the outcomes it held at some time of the window. */
async function listSides(sql: Sql, { wallets, now, overlay }: WalletsScope, { from, to }: Window): Promise<Sides[]> {
  const rows = await sql.query<SentSides>(SIDES, [wallets, now, overlay, from, to]);
  const own = new Map(rows.map((row) => [row.wallet, readSides(row)]));
  return wallets.map((wallet) => own.get(wallet) ?? NO_SIDES);
}

/** What is told of a side, its wallet by place alone. */
type SentSide = Omit<SharedSide, 'wallet'>;

const SIDE: Columns<SentSide> = {
  place: 'plain',
  condition_id: 'plain',
  question: 'plain',
  token_id: 'plain',
  outcome: 'plain',
  net_shares: 'plain',
  avg_buy_price: 'plain',
  pnl: 'plain',
  paid: 'plain',
};

/** SQL of the positions that `from` names, on markets chosen. */
const shownOf = (
  from: string,
): string => `SELECT array_position($1::text[], position.wallet) AS w, position.condition_id, position.token_id, question, outcome,
    shares - redeemed_shares AS net_shares, gain, paid_usdc::float8 AS paid, paid_shares::float8 AS paid_shares, CASE WHEN status = 'open' THEN ${unrealizedSql('$2::timestamptz')} END AS unrealized
  FROM ${from} WHERE position.condition_id IN (SELECT condition_id FROM chosen) AND ${aliveOf('$1', 'position.')}`;

// Of each market all its positions are looked up together, and what its text tells once. What is kept and what comes with the statement get their words
// each by themselves: so the first are read beside their markets in a cluster.
const SHOWN: Statement = {
  name: 'pm_shared_sides',
  keyed: true,
  text: byColumn(
    SIDE,
    `WITH chosen AS MATERIALIZED (
  SELECT market.condition_id FROM unnest($6::bigint[], $7::int[], $8::float8[]) AS shared(number, holders, paid) JOIN pm_market AS market ON ${marketNumber('market.condition_id')} = shared.number
  ORDER BY holders DESC, paid DESC, condition_id LIMIT $9
), known AS (
  ${shownOf(`pm_position AS position ${WITH_TOKEN}`)} AND position.last_at < $2::timestamptz
  UNION ALL ${shownOf(`${laterSql('$3', 'position')} ${WITH_TOKEN}`)}
)
SELECT DISTINCT ON (condition_id, w) w AS place, condition_id, question, token_id, COALESCE(outcome, token_id) AS outcome, net_shares, paid / paid_shares AS avg_buy_price,
  sum(gain) OVER own + COALESCE(sum(unrealized) OVER own, 0) AS pnl, sum(paid) OVER own AS paid
FROM known WINDOW own AS (PARTITION BY condition_id, w ORDER BY paid DESC, token_id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) ORDER BY condition_id, w, known.paid DESC, token_id`,
  ),
};

/** Those of most wallets first, then of most USDC: the first `most`, and whatever is even with the last of them. */
function firstOf(shared: readonly SharedMarket[], most: number): SharedMarket[] {
  const compare = (a: SharedMarket, b: SharedMarket): number => b.holders - a.holders || b.paid - a.paid;
  const ordered = [...shared].sort(compare);
  const last = ordered[most - 1];
  return last === undefined ? ordered : ordered.filter((market) => compare(market, last) <= 0);
}

/** Lists that are looked up side by side; where some are even with the last of `most`, one statement chooses among them. */
function sharesOf(first: readonly SharedMarket[], most: number): (readonly SharedMarket[])[] {
  const half = Math.ceil(first.length / 2);
  const shares = first.length > most ? [first] : [first.slice(0, half), first.slice(half)];
  return shares.filter((markets) => markets.length > 0);
}

/**
 * How the wallets' positions open at some time of the window overlap; with `most` their sides of so many markets on which two had some, those of most wallets
 * first, then of most USDC.
 */
export async function listOverlap(
  sql: Sql,
  { wallets, now, overlay }: WalletsScope,
  { from, to }: Window,
  most: number | null,
): Promise<WalletOverlap> {
  const scope = { wallets, now, overlay };
  const { reaches, pairs, shared } = overlapOf(await listSides(sql, scope, { from, to }));
  const nameOf = (place: number): string => wallets[place] as string;
  const overlap = {
    reaches: reaches.map((reach, place) => ({ wallet: nameOf(place), ...reach })),
    pairs: pairs.map((pair) => ({ ...pair, a: nameOf(pair.a), b: nameOf(pair.b) })),
  };
  if (most === null) return { ...overlap, markets: 0, sides: null };
  const first = firstOf(shared, most);
  const sides = await Promise.all(
    sharesOf(first, most).map(async (markets) => {
      const lists = [markets.map(({ market }) => market), markets.map(({ holders }) => holders), markets.map(({ paid }) => paid)];
      const [told] = await sql.query(SHOWN, [wallets, now, overlay, from, to, ...lists, most]);
      return rowsOf(SIDE, told).map((side) => ({ ...side, wallet: nameOf(side.place - 1) }));
    }),
  );
  return { ...overlap, markets: shared.length, sides: sides.flat() };
}
