import type { Sql, Statement } from '../../../db/sql';
import { groupedBy } from '../../../lib/grouped';
import { sum } from '../../../lib/statistics';
import { BEGINNING } from '../../../lib/timeframe';
import { less, total } from '../exact';
import { IS_MACHINE, type Tier, tierSql } from '../scoring/tiers';
import { Parameters } from './parameters';
import { cutAt, walletPieces } from './pieces';

/** What wallets of a tier traded; exact decimal texts. */
interface TierSums {
  tier: Tier;
  wallets: number;
  usdc: string;
}

/** What wallets of a tier traded of one outcome, ever. */
export interface OutcomeTier extends TierSums {
  token_id: string;
  buy_usdc: string;
  buy_shares: string;
  /** Sum of the scores of those that have one, and their number. */
  scores: string | null;
  scored: number;
}

/** What wallets of a tier traded of a market, ever. */
export interface MarketTier extends TierSums {
  token_id: null;
  /** Wallets whose first fill on the market was their first of all. */
  new_wallets: number;
  machines: number;
  machines_usdc: string;
  /** What each wallet traded, USDC, in no order. */
  bets: number[];
}

/** Wallets by tier, of an outcome or of a market as a whole. */
export type ParticipantTier = OutcomeTier | MarketTier;

/** SQL of ParticipantTier by what `pieces` (of walletPieces) hold of a market, in the run of `day`. Amounts are texts: within JSON they stay exact. */
function tiersSql(pieces: string, day: string): string {
  // Looked up in order, as a list: one by one they took half of the time.
  const wallets = 'ARRAY(SELECT wallet FROM own)';
  return `WITH traded AS MATERIALIZED (
  SELECT wallet, token_id, sum(buy_usdc) + sum(sell_usdc) AS usdc, sum(buy_usdc) AS buy_usdc, sum(buy_shares) AS buy_shares, min(first_at) AS first_at FROM (${pieces}) AS piece GROUP BY wallet, token_id
), own AS MATERIALIZED (
  SELECT wallet, sum(usdc) AS usdc, min(first_at) AS first_at FROM traded GROUP BY wallet
), participant AS MATERIALIZED (
  SELECT own.wallet, usdc, COALESCE(first_at <= first_trade_at, false) AS is_new, score, ${tierSql('score')} AS tier, COALESCE(${IS_MACHINE}, false) AS machine
  FROM own LEFT JOIN (SELECT wallet, first_trade_at FROM pm_wallet WHERE wallet = ANY (${wallets})) AS known ON known.wallet = own.wallet
  LEFT JOIN (SELECT wallet, score, tags FROM pm_wallet_score WHERE day = ${day} AND wallet = ANY (${wallets})) AS scored ON scored.wallet = own.wallet
)
SELECT token_id, tier, count(*)::int AS wallets, sum(traded.usdc)::text AS usdc, sum(buy_usdc)::text AS buy_usdc, sum(buy_shares)::text AS buy_shares, sum(score)::text AS scores, count(score)::int AS scored,
  NULL::int AS new_wallets, NULL::int AS machines, NULL AS machines_usdc, NULL::json AS bets
FROM traded JOIN participant USING (wallet) GROUP BY token_id, tier
UNION ALL
SELECT NULL, tier, count(*)::int, sum(usdc)::text, NULL, NULL, NULL, NULL, (count(*) FILTER (WHERE is_new))::int, (count(*) FILTER (WHERE machine))::int,
  COALESCE(sum(usdc) FILTER (WHERE machine), 0)::text, json_agg(usdc::float8)
FROM participant GROUP BY tier`;
}

/** Wallets that traded a market before `now`, by tier in the run of `score_day`: of each outcome, and of the market as a whole. As told where that is, and what was traded since. */
export async function listParticipants(sql: Sql, condition_id: string, now: Date, score_day: string | null): Promise<ParticipantTier[]> {
  const [told] = await sql.query<ToldTiers>(TOLD, [condition_id, score_day, now]);
  if (told?.moved === false) return told.rows;
  const since = told && (await reckonSince(sql, condition_id, [told.until, now], score_day));
  // Where it was taken out meanwhile, nothing is known of it.
  return since ?? reckonParticipants(sql, condition_id, now, score_day);
}

/** The same, all added up. */
export function reckonParticipants(sql: Sql, condition_id: string, now: Date, score_day: string | null): Promise<ParticipantTier[]> {
  const parameters = new Parameters();
  const pieces = walletPieces(cutAt([BEGINNING, now]), parameters, `condition_id = ${parameters.add(condition_id, 'text')}`);
  const text = tiersSql(pieces, parameters.add(score_day, 'date'));
  return sql.query<ParticipantTier>({ name: 'pm_participants', text }, parameters.values);
}

/** What is told of a market, and whether anybody traded there since. */
type ToldTiers = { until: Date; rows: ParticipantTier[]; moved: boolean };

const TOLD: Statement = {
  name: 'pm_told_participants',
  keyed: true,
  text: `SELECT until, rows, EXISTS (
  SELECT 1 FROM pm_trade WHERE condition_id = $1 AND "timestamp" >= until AND "timestamp" < $3 AND side IN ('BUY', 'SELL')
) AS moved FROM pm_told_participants WHERE condition_id = $1 AND day = $2::date AND until <= $3`,
};

/** What is told of a market before the first instant, less what those wallets come to that traded there since, with what they came to by the second; null where it is no longer told. */
async function reckonSince(
  sql: Sql,
  condition_id: string,
  [until, now]: readonly [Date, Date],
  score_day: string | null,
): Promise<ParticipantTier[] | null> {
  const parameters = new Parameters();
  const market = parameters.add(condition_id, 'text');
  const [from, to] = [parameters.add(until, 'timestamptz'), parameters.add(now, 'timestamptz')];
  const day = parameters.add(score_day, 'date');
  // As a truth value it is hashed: the planner would guess one row of a list of wallets, and look for each of them again and again.
  const own = `condition_id = ${market} AND (wallet IN (SELECT wallet FROM moved)) IS TRUE`;
  const pieces = walletPieces(cutAt([BEGINNING, until, now]), parameters, own);
  const tiers = (condition: string): string =>
    `(SELECT COALESCE(json_agg(participants), '[]') FROM (${tiersSql(`SELECT * FROM own_piece WHERE ${condition}`, day)}) AS participants)`;
  const text = `WITH moved AS MATERIALIZED (
  SELECT DISTINCT wallet FROM pm_trade WHERE condition_id = ${market} AND "timestamp" >= ${from} AND "timestamp" < ${to} AND side IN ('BUY', 'SELL')
), own_piece AS MATERIALIZED (${pieces})
SELECT rows, ${tiers('part < 2')} AS gone, ${tiers('true')} AS come FROM pm_told_participants WHERE condition_id = ${market} AND day = ${day} AND until = ${from}`;
  const [row] = await sql.query<Record<'rows' | 'gone' | 'come', ParticipantTier[]>>(
    { name: 'pm_participants_since', text },
    parameters.values,
  );
  return row === undefined ? null : exchanged(row.rows, row.gone, row.come);
}

/** The tiers of wallets that stay or come, and of those that go: as they were, they are among the first. */
interface Exchange<Tier> {
  own: readonly Tier[];
  gone: readonly Tier[];
}

/** What is told without the wallets that go, with those that come. */
function exchanged(
  told: readonly ParticipantTier[],
  gone: readonly ParticipantTier[],
  come: readonly ParticipantTier[],
): ParticipantTier[] {
  const all = [...told, ...come];
  return [
    ...exchangedBy({ own: all.filter(isOfOutcome), gone: gone.filter(isOfOutcome) }, outcomeTier),
    ...exchangedBy({ own: all.filter(isOfMarket), gone: gone.filter(isOfMarket) }, marketTier),
  ];
}

const isOfMarket = (tier: ParticipantTier): tier is MarketTier => tier.token_id === null;
const isOfOutcome = (tier: ParticipantTier): tier is OutcomeTier => tier.token_id !== null;

/** Tier by tier; a tier without wallets is none. */
function exchangedBy<Row extends ParticipantTier>({ own, gone }: Exchange<Row>, join: (tier: Exchange<Row>) => Partial<Row>): Row[] {
  const keyOf = ({ token_id, tier }: Row): string => `${token_id}|${tier}`;
  const leaving = groupedBy(gone, keyOf);
  const joined = [...groupedBy(own, keyOf)].map(([key, same]): Row => {
    const parts = { own: same, gone: leaving.get(key) ?? [] };
    return {
      ...(same[0] as Row),
      ...join(parts),
      wallets: counted(parts, ({ wallets }) => wallets),
      usdc: added(parts, ({ usdc }) => usdc),
    };
  });
  return joined.filter(({ wallets }) => wallets > 0);
}

const outcomeTier = (tier: Exchange<OutcomeTier>): Partial<OutcomeTier> => ({
  buy_usdc: added(tier, ({ buy_usdc }) => buy_usdc),
  buy_shares: added(tier, ({ buy_shares }) => buy_shares),
  scores: added(tier, ({ scores }) => scores ?? '0'),
  scored: counted(tier, ({ scored }) => scored),
});

const marketTier = (tier: Exchange<MarketTier>): Partial<MarketTier> => ({
  new_wallets: counted(tier, ({ new_wallets }) => new_wallets),
  machines: counted(tier, ({ machines }) => machines),
  machines_usdc: added(tier, ({ machines_usdc }) => machines_usdc),
  bets: without(tier.own.flatMap(({ bets }) => bets), tier.gone.flatMap(({ bets }) => bets)), // prettier-ignore
});

const added = <Row>({ own, gone }: Exchange<Row>, of: (row: Row) => string): string => less(total(own.map(of)), total(gone.map(of)));
const counted = <Row>({ own, gone }: Exchange<Row>, of: (row: Row) => number): number => sum(own.map(of)) - sum(gone.map(of));

/** Values, less one of each of others among them. */
function without(values: readonly number[], others: readonly number[]): number[] {
  const left = new Map<number, number>();
  for (const value of others) left.set(value, (left.get(value) ?? 0) + 1);
  return values.filter((value) => {
    const more = left.get(value) ?? 0;
    left.set(value, more - 1);
    return more <= 0;
  });
}
