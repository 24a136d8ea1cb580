import type { PoolClient } from 'pg';
import { takeMarksBack } from '../../../workers/track-record';
import { marketsBefore, settlePositions } from '../rollups/positions-settle';
import { listCategories, moveVolumes } from '../rollups/volumes';
import type { CatalogueMarket } from './gamma-market';
import { payoutByName } from './settlement';

const NEWER = `(kept.is_stub OR EXCLUDED.updated_at > kept.updated_at
  OR ((kept.updated_at IS NULL OR EXCLUDED.updated_at IS NULL) AND kept.resolved_at IS NULL AND (EXCLUDED.resolved_at IS NOT NULL OR EXCLUDED.updated_at IS NOT NULL)))`;
const DESCRIPTION = ['question', 'outcomes', 'end_date', 'created_at', 'closed_at', 'resolved_at', 'winning_outcome', 'is_voided',
  'upstream_volume', 'upstream_liquidity', 'updated_at']; // prettier-ignore

/** What not every listing carries. */
const OPTIONAL = ['slug', 'event_slug', 'neg_risk'] as const;
/** The same in SQL by name, of one row, else of another; which group a market is in stands beside whether it is in one. */
const optionalOf = (one: string, other: string): [string, string][] => [
  ...OPTIONAL.map((name): [string, string] => [name, `COALESCE(${one}.${name}, ${other}.${name})`]),
  ['neg_risk_id', `CASE WHEN ${one}.neg_risk IS NULL THEN COALESCE(${other}.neg_risk_id, ${one}.neg_risk_id) ELSE ${one}.neg_risk_id END`],
];
const OF_OLDER = new Map(optionalOf('kept', 'EXCLUDED'));

// A newer description replaces an older one; what not every listing carries, and tags, survive a listing without them, whichever comes first.
const MARKETS = `
INSERT INTO pm_market AS kept (condition_id, question, slug, event_slug, category, tags, outcomes, neg_risk, neg_risk_id, end_date, created_at, closed_at,
  resolved_at, winning_outcome, is_voided, upstream_volume, upstream_liquidity, updated_at, is_stub)
SELECT condition_id, question, slug, event_slug, category, ARRAY(SELECT jsonb_array_elements_text(tags)), ARRAY(SELECT jsonb_array_elements_text(outcomes)),
  neg_risk, neg_risk_id, end_date, created_at, closed_at, resolved_at, winning_outcome, is_voided, upstream_volume, upstream_liquidity, updated_at, false
FROM jsonb_to_recordset($1::jsonb) AS row(condition_id text, question text, slug text, event_slug text, category text, tags jsonb, outcomes jsonb,
  neg_risk boolean, neg_risk_id text, end_date timestamptz, created_at timestamptz, closed_at timestamptz, resolved_at timestamptz,
  winning_outcome text, is_voided boolean, upstream_volume numeric, upstream_liquidity numeric, updated_at timestamptz)
ON CONFLICT (condition_id) DO UPDATE SET
  ${DESCRIPTION.map((name) => `${name} = CASE WHEN ${NEWER} THEN EXCLUDED.${name} ELSE kept.${name} END`).join(', ')}, is_stub = false,
  ${optionalOf('EXCLUDED', 'kept')
    .map(([name, newer]) => `${name} = CASE WHEN ${NEWER} THEN ${newer} ELSE ${OF_OLDER.get(name)} END`)
    .join(', ')},
  category = CASE WHEN EXCLUDED.tags = '{}' AND kept.tags <> '{}' THEN kept.category WHEN ${NEWER} OR (kept.tags = '{}' AND EXCLUDED.tags <> '{}') THEN EXCLUDED.category ELSE kept.category END,
  tags = CASE WHEN EXCLUDED.tags <> '{}' AND (kept.tags = '{}' OR ${NEWER}) THEN EXCLUDED.tags ELSE kept.tags END
WHERE ${NEWER} OR (kept.tags = '{}' AND EXCLUDED.tags <> '{}')${OPTIONAL.map((name) => ` OR (kept.${name} IS NULL AND EXCLUDED.${name} IS NOT NULL)`).join('')}
RETURNING condition_id, outcomes, resolved_at, winning_outcome, is_voided, updated_at`;

const OUTCOMES = `
INSERT INTO pm_outcome AS kept (condition_id, token_id, outcome_index, outcome, price, price_at, payout)
SELECT * FROM listed
ON CONFLICT (condition_id, token_id) DO UPDATE SET outcome_index = EXCLUDED.outcome_index, outcome = EXCLUDED.outcome,
  price = EXCLUDED.price, price_at = EXCLUDED.price_at, payout = EXCLUDED.payout`;

// Of a record that only completes a newer one, outcomes are taken where that one told none, without what they cost.
const UNTOLD = `
INSERT INTO pm_outcome AS kept (condition_id, token_id, outcome_index, outcome, payout)
SELECT condition_id, given.token_id, given.outcome_index, given.outcome, ${payoutByName('given.outcome')} FROM given JOIN market USING (condition_id)
WHERE condition_id NOT IN (SELECT condition_id FROM described)
ON CONFLICT (condition_id, token_id) DO UPDATE SET outcome_index = EXCLUDED.outcome_index WHERE kept.outcome_index IS NULL`;

const DESCRIBED = `SELECT market.* FROM market JOIN jsonb_to_recordset($1::jsonb) AS given(condition_id text, updated_at timestamptz) USING (condition_id)
  WHERE market.updated_at IS NOT DISTINCT FROM given.updated_at`;

// Tokens that only trades told of. They are found first, by a list of markets and a hashed list of tokens: the planner takes what is listed for one row, and
// would compare each outcome with each.
const UNLISTED = `
SELECT condition_id, token_id FROM pm_outcome
WHERE condition_id = ANY(ARRAY(SELECT condition_id FROM described)) AND token_id NOT IN (SELECT token_id FROM listed)`;
const SETTLED = `
UPDATE pm_outcome AS outcome SET payout = ${payoutByName('outcome.outcome')} FROM unlisted JOIN described AS market USING (condition_id)
WHERE outcome.condition_id = unlisted.condition_id AND outcome.token_id = unlisted.token_id`;

// Markets, and the outcomes of those that are new or changed.
const UPSERT = `WITH market AS (${MARKETS}), described AS MATERIALIZED (${DESCRIBED}), given AS MATERIALIZED (
  SELECT * FROM jsonb_to_recordset($2::jsonb) AS row(condition_id text, token_id text, outcome_index smallint, outcome text, price numeric, price_at timestamptz, payout numeric)
), listed AS MATERIALIZED (
  SELECT given.* FROM given JOIN described ON described.condition_id = given.condition_id
), outcomes AS (${OUTCOMES}), untold AS (${UNTOLD}), unlisted AS MATERIALIZED (${UNLISTED}), settled AS (${SETTLED})
SELECT condition_id FROM market`;

/** Keeps the newest description of each market; returns how many were new or changed. With rollups 'later' positions and volumes stay as they are. */
export async function writeMarkets(markets: CatalogueMarket[], client: PoolClient, rollups: 'now' | 'later' = 'now'): Promise<number> {
  const newest = new Map<string, CatalogueMarket>();
  for (const market of markets) {
    const other = newest.get(market.condition_id);
    const isNewer = other === undefined || (market.updated_at ?? 0) > (other.updated_at ?? 0);
    newest.set(market.condition_id, isNewer ? completed(market, other) : completed(other, market));
  }
  // One order for all writers, so that two of them never wait for each other.
  const ordered = [...newest.values()].sort((a, b) => (a.condition_id < b.condition_id ? -1 : 1));
  const before = rollups === 'now' ? await marketsBefore(client, [...newest.keys()]) : null;
  const categories = rollups === 'now' ? await listCategories(client, [...newest.keys()]) : null;
  const outcomes = ordered.flatMap(({ condition_id, tokens, updated_at }) =>
    tokens.map((token) => ({ condition_id, ...token, price_at: updated_at })),
  );
  const written = await client.query<{ condition_id: string }>({
    name: 'pm_upsert_markets',
    text: UPSERT,
    values: [JSON.stringify(ordered.map(({ tokens: _, ...market }) => market)), JSON.stringify(outcomes)],
  });
  const ids = written.rows.map(({ condition_id }) => condition_id);
  if (categories !== null) await moveVolumes(client, categories);
  // Where nobody looked how they had ended, all are marked anew.
  const otherwise = before === null ? ids : await settlePositions(client, before, ids);
  await takeMarksBack(client, 'prediction', otherwise);
  return ids.length;
}

/** A description with what only another one of the same market carries. */
function completed(market: CatalogueMarket, other: CatalogueMarket | undefined): CatalogueMarket {
  if (other === undefined) return market;
  const { tags, category } = market.tags.length > 0 ? market : other.tags.length > 0 ? other : market;
  const optional = Object.fromEntries(OPTIONAL.map((name) => [name, market[name] ?? other[name]]));
  const neg_risk_id = market.neg_risk === null ? (other.neg_risk_id ?? market.neg_risk_id) : market.neg_risk_id;
  return { ...market, ...optional, neg_risk_id, tags, category };
}
