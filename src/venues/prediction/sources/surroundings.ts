import type { PoolClient } from 'pg';
import { categoryOf } from '../categories';
import { arrayOf } from '../rollups/array-text';
import { forgetWalletsOf } from '../rollups/told-wallets';
import { listCategories, moveVolumes } from '../rollups/volumes';
import type { DataApiRow } from './data-api-row';
import { payoutByName } from './settlement';

const MARKETS = `
INSERT INTO pm_market AS kept (condition_id, question, slug, event_slug, category, tags, outcomes, is_stub)
SELECT condition_id, question, slug, event_slug, category, '{}', '{}', true
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS row(condition_id, question, slug, event_slug, category)
ON CONFLICT (condition_id) DO UPDATE SET question = EXCLUDED.question, slug = EXCLUDED.slug, event_slug = EXCLUDED.event_slug, category = EXCLUDED.category
WHERE kept.is_stub AND kept.question IS NULL AND EXCLUDED.question IS NOT NULL`;

// Those of which that statement will change the category.
const NAMELESS = 'SELECT condition_id FROM pm_market WHERE condition_id = ANY($1) AND is_stub AND question IS NULL';

const OUTCOMES = `
INSERT INTO pm_outcome AS kept (condition_id, token_id, outcome_index, outcome, payout)
SELECT row.*, ${payoutByName('row.outcome')}
FROM unnest($6::text[], $7::text[], $8::smallint[], $9::text[]) AS row(condition_id, token_id, outcome_index, outcome) LEFT JOIN pm_market AS market USING (condition_id)
ON CONFLICT (condition_id, token_id) DO UPDATE SET outcome_index = EXCLUDED.outcome_index
WHERE kept.outcome_index IS NULL AND EXCLUDED.outcome_index IS NOT NULL
RETURNING condition_id, token_id`;

const WALLETS = `
INSERT INTO pm_wallet AS kept (wallet, first_trade_at, first_seen_at)
SELECT wallet, to_timestamp(traded), to_timestamp(seen) FROM unnest($10::text[], $11::float8[], $12::float8[]) AS row(wallet, traded, seen)
ON CONFLICT (wallet) DO UPDATE SET first_trade_at = LEAST(kept.first_trade_at, EXCLUDED.first_trade_at), first_seen_at = LEAST(kept.first_seen_at, EXCLUDED.first_seen_at)
WHERE EXCLUDED.first_seen_at < kept.first_seen_at OR EXCLUDED.first_trade_at < kept.first_trade_at OR (kept.first_trade_at IS NULL AND EXCLUDED.first_trade_at IS NOT NULL)`;

// Markets of known tokens that get their place.
const PLACED = `
SELECT condition_id FROM unnest($6::text[], $7::text[], $8::smallint[]) AS row(condition_id, token_id, place) JOIN pm_outcome AS kept USING (condition_id, token_id)
WHERE kept.outcome_index IS NULL AND row.place IS NOT NULL`;

const NOTE = `WITH markets AS (${MARKETS}), wallets AS (${WALLETS}), outcomes AS (${OUTCOMES})
SELECT condition_id, token_id, condition_id IN (${PLACED}) AS is_placed FROM outcomes`;

// Of all that a page names only what is new is looked for among holders: trades may not name what they are of.
const HELD = 'SELECT DISTINCT condition_id FROM pm_position WHERE condition_id = ANY($1) AND token_id = ANY($2)';

const before = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** So much of each kind is remembered; what is forgotten is noted again. */
const MOST_KNOWN = 100_000;

/** First trade and first row of a wallet, in seconds. */
interface Firsts {
  traded: number | null;
  seen: number;
}

/** What the rows of one page, or of all pages of one transaction, tell of markets, outcomes and wallets beside the trades themselves. */
export class Surroundings {
  private readonly markets = new Set<string>();
  private readonly outcomes = new Set<string>();
  private readonly wallets = new Map<string, Firsts>();

  constructor(private readonly rollups: 'now' | 'later') {}

  /** Keeps what is new, by one statement; tells the markets of which a token is new, or its place. What was taken on a market whose category changes is moved, and who was told by what changes is taken out. */
  async note(rows: readonly DataApiRow[], client: PoolClient): Promise<string[]> {
    for (const known of [this.markets, this.outcomes, this.wallets]) if (known.size > MOST_KNOWN) known.clear();
    const stubs = this.newMarkets(rows);
    const nameless = this.rollups === 'now' ? await listNameless(client, stubs) : [];
    const placed = nameless.length > 0 ? await listCategories(client, nameless) : null;
    const [outcomes, wallets] = [this.newOutcomes(rows), this.earlierFirsts(rows)];
    if (stubs.length + outcomes.length + wallets.length === 0) return [];
    const values = [...marketColumns(stubs), ...outcomeColumns(outcomes), ...walletColumns(wallets)];
    const noted = await client.query<NotedOutcome>({ name: 'pm_note_surroundings', text: NOTE, values });
    if (placed !== null) await moveVolumes(client, placed);
    if (this.rollups === 'now' && noted.rows.length > 0) await forgetHolders(client, noted.rows);
    return [...new Set(noted.rows.map(({ condition_id }) => condition_id))];
  }

  /** Wallets of which the rows tell an earlier trade or row than was noted, in one order for all writers: two of them never wait for each other. */
  private earlierFirsts(rows: readonly DataApiRow[]): [string, Firsts][] {
    const earlier = new Map<string, Firsts>();
    for (const { wallet, timestamp, price } of rows) {
      const seconds = timestamp.getTime() / 1_000;
      const known = this.wallets.get(wallet);
      const trades = price !== null && (known?.traded ?? Number.POSITIVE_INFINITY) > seconds;
      if (known !== undefined && known.seen <= seconds && !trades) continue;
      const firsts = { traded: trades ? seconds : (known?.traded ?? null), seen: Math.min(known?.seen ?? seconds, seconds) };
      this.wallets.set(wallet, firsts);
      earlier.set(wallet, firsts);
    }
    return [...earlier].sort(([a], [b]) => before(a, b));
  }

  private newMarkets(rows: readonly DataApiRow[]): DataApiRow[] {
    return (
      firstOfEach(rows, this.markets, (row) => (row.title === null ? `?${row.condition_id}` : row.condition_id))
        // A row with a title says more than one without.
        .sort((a, b) => before(a.condition_id, b.condition_id) || Number(b.title !== null) - Number(a.title !== null))
        .filter((row, index, sorted) => row.condition_id !== sorted[index - 1]?.condition_id)
    );
  }

  private newOutcomes(rows: readonly DataApiRow[]): DataApiRow[] {
    const named = rows.filter((row) => row.token_id !== null && row.outcome !== null);
    return firstOfEach(named, this.outcomes, (row) => `${row.token_id}|${row.outcome_index ?? ''}`)
      .sort(
        (a, b) => before(a.token_id as string, b.token_id as string) || Number(b.outcome_index !== null) - Number(a.outcome_index !== null),
      )
      .filter((row, index, sorted) => row.token_id !== sorted[index - 1]?.token_id);
  }
}

/** An outcome that is new, or has its place since. */
interface NotedOutcome {
  condition_id: string;
  token_id: string;
  /** Whether an outcome of the market was known without its place. */
  is_placed: boolean;
}

/** Takes out who was told while nothing said on which side these outcomes are. */
async function forgetHolders(client: PoolClient, noted: readonly NotedOutcome[]): Promise<void> {
  const fresh = noted.filter(({ is_placed }) => !is_placed);
  const values = [fresh.map(({ condition_id }) => condition_id), fresh.map(({ token_id }) => token_id)];
  const held = fresh.length === 0 ? [] : (await client.query<{ condition_id: string }>({ name: 'pm_note_held', text: HELD, values })).rows;
  const known = new Set([...noted.filter(({ is_placed }) => is_placed), ...held].map(({ condition_id }) => condition_id));
  if (known.size > 0) await forgetWalletsOf(client, [...known]);
}

/** Markets among these that are known without a name, and are told one. */
async function listNameless(client: PoolClient, stubs: readonly DataApiRow[]): Promise<string[]> {
  const told = stubs.filter(({ title }) => title !== null).map(({ condition_id }) => condition_id);
  if (told.length === 0) return [];
  const { rows } = await client.query<{ condition_id: string }>({ name: 'pm_nameless', text: NAMELESS, values: [told] });
  return rows.map(({ condition_id }) => condition_id);
}

/** First row of each key that is not in `known` yet; the keys are added to it. */
function firstOfEach(rows: readonly DataApiRow[], known: Set<string>, keyOf: (row: DataApiRow) => string): DataApiRow[] {
  const found: DataApiRow[] = [];
  for (const row of rows) {
    const key = keyOf(row);
    if (known.has(key)) continue;
    known.add(key);
    found.push(row);
  }
  return found;
}

const categoryOfRow = ({ slug, event_slug, title }: DataApiRow): string =>
  categoryOf({ tags: [], slugs: slug ? [slug, event_slug ?? ''] : [title ?? ''] });

const marketColumns = (stubs: readonly DataApiRow[]): unknown[][] => [
  stubs.map((row) => row.condition_id),
  stubs.map((row) => row.title),
  stubs.map((row) => row.slug),
  stubs.map((row) => row.event_slug),
  stubs.map(categoryOfRow),
];

const outcomeColumns = (stubs: readonly DataApiRow[]): unknown[][] => [
  stubs.map((row) => row.condition_id),
  stubs.map((row) => row.token_id),
  stubs.map((row) => row.outcome_index),
  stubs.map((row) => row.outcome),
];

const walletColumns = (wallets: readonly [string, Firsts][]): string[] => [
  arrayOf(wallets.map(([wallet]) => wallet)),
  arrayOf(wallets.map(([, { traded }]) => traded)),
  arrayOf(wallets.map(([, { seen }]) => seen)),
];
