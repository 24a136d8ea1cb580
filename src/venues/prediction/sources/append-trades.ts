import type { PoolClient } from 'pg';
import { categoryOf } from '../categories';
import { arrayOf } from '../rollups/array-text';
import { type HourChange, rollHours } from '../rollups/hours';
import { rollLatest } from '../rollups/latest-fills';
import { lockRollups, rollPositions } from '../rollups/positions';
import { listCategories, moveVolumes, rollVolumes } from '../rollups/volumes';
import type { DataApiRow } from './data-api-row';
import { Months } from './months';

/** A row of a wallet's history, ready for the store. */
export interface TradeFact extends DataApiRow {
  trade_id: string;
  is_taker: boolean | null;
}

// Instants travel as seconds: the driver's own way of writing dates is slow.
const ROWS = `(SELECT *, to_timestamp(seconds) AS "timestamp" FROM unnest($1::text[], $2::float8[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::numeric[],
  $9::numeric[], $10::boolean[], $11::text[]) AS given(condition_id, seconds, trade_id, wallet, token_id, side, price, size, usdc_size, is_taker, tx_hash)) AS row`;

// Rows go to pm_trade, or to a month's own table while it is filled before it becomes a partition.
const NAMES = (table: string): { append?: string; complete?: string } =>
  table === 'pm_trade' ? { append: 'pm_append_trades', complete: 'pm_complete_trades' } : {};

// USDC where the upstream gives none: price × size of a trade, one a share for a payout or a full set; a conversion's cash is unknown, not guessed.
const APPEND = (table: string): string => `
INSERT INTO ${table} (condition_id, "timestamp", trade_id, wallet, token_id, side, price, size, usdc_size, is_taker, tx_hash)
SELECT condition_id, "timestamp", trade_id, wallet, token_id, side, price, size,
  COALESCE(usdc_size, CASE side WHEN 'CONVERSION' THEN 0 ELSE round(size * COALESCE(price, 1), 6) END), is_taker, tx_hash
FROM ${ROWS}
ON CONFLICT (condition_id, "timestamp", trade_id) DO NOTHING
RETURNING trade_id, extract(epoch FROM "timestamp")::float8 AS seconds, usdc_size`;

// The same fill in two feeds: one knows that it took, the other states its USDC. Whichever came first, the row ends the same.
const COMPLETE = (table: string): string => `
UPDATE ${table} AS kept SET is_taker = COALESCE(kept.is_taker, row.is_taker), usdc_size = COALESCE(row.usdc_size, kept.usdc_size)
FROM ${ROWS} JOIN ${table} AS was ON was.condition_id = row.condition_id AND was."timestamp" = row."timestamp" AND was.trade_id = row.trade_id
WHERE kept.condition_id = row.condition_id AND kept."timestamp" = row."timestamp" AND kept.trade_id = row.trade_id
  AND ((kept.is_taker IS NULL AND row.is_taker IS NOT NULL) OR kept.usdc_size <> row.usdc_size)
RETURNING kept.condition_id, kept.token_id, kept.wallet, kept.side, kept.price, kept."timestamp", kept.trade_id, 0 AS rows, 0 AS size, kept.usdc_size - was.usdc_size AS usdc,
  (kept.is_taker IS TRUE AND was.is_taker IS NOT TRUE)::int AS takes, CASE WHEN kept.is_taker AND was.is_taker IS NOT TRUE THEN kept.size ELSE 0 END AS taker_size,
  CASE WHEN kept.is_taker THEN kept.usdc_size ELSE 0 END - CASE WHEN was.is_taker THEN was.usdc_size ELSE 0 END AS taker_usdc`;

const WALLETS = `
INSERT INTO pm_wallet AS kept (wallet, first_trade_at, first_seen_at)
SELECT * FROM unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) AS row(wallet, first_trade_at, first_seen_at)
ON CONFLICT (wallet) DO UPDATE SET first_trade_at = LEAST(kept.first_trade_at, EXCLUDED.first_trade_at), first_seen_at = LEAST(kept.first_seen_at, EXCLUDED.first_seen_at)
WHERE EXCLUDED.first_seen_at < kept.first_seen_at OR EXCLUDED.first_trade_at < kept.first_trade_at OR (kept.first_trade_at IS NULL AND EXCLUDED.first_trade_at IS NOT NULL)`;

const STUB_MARKETS = `
INSERT INTO pm_market AS kept (condition_id, question, slug, event_slug, category, tags, outcomes, is_stub)
SELECT condition_id, question, slug, event_slug, category, '{}', '{}', true
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS row(condition_id, question, slug, event_slug, category)
ON CONFLICT (condition_id) DO UPDATE SET question = EXCLUDED.question, slug = EXCLUDED.slug, event_slug = EXCLUDED.event_slug, category = EXCLUDED.category
WHERE kept.is_stub AND kept.question IS NULL AND EXCLUDED.question IS NOT NULL`;

const STUB_OUTCOMES = `
INSERT INTO pm_outcome AS kept (condition_id, token_id, outcome_index, outcome)
SELECT * FROM unnest($1::text[], $2::text[], $3::smallint[], $4::text[]) AS row(condition_id, token_id, outcome_index, outcome)
ON CONFLICT (condition_id, token_id) DO UPDATE SET outcome_index = EXCLUDED.outcome_index
WHERE kept.outcome_index IS NULL AND EXCLUDED.outcome_index IS NOT NULL
RETURNING condition_id`;

interface Appended {
  trade_id: string;
  seconds: number;
  usdc_size: string;
}

/** What the rows that were really appended add to their hours. */
function newChanges(rows: readonly TradeFact[], appended: readonly Appended[]): (HourChange & TradeFact)[] {
  const keyOf = (trade_id: string, seconds: number): string => `${trade_id}@${seconds}`;
  const byKey = new Map(rows.map((row) => [keyOf(row.trade_id, row.timestamp.getTime() / 1_000), row]));
  return appended.map(({ trade_id, seconds, usdc_size }) => {
    const row = byKey.get(keyOf(trade_id, seconds)) as TradeFact;
    const takes = row.is_taker === true;
    return {
      ...row,
      rows: 1,
      usdc: usdc_size,
      takes: takes ? 1 : 0,
      taker_size: takes ? row.size : '0',
      taker_usdc: takes ? usdc_size : '0',
    };
  });
}

const before = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Appends rows of one page: partitions, what they tell of markets, outcomes and wallets, and the facts themselves. */
export class AppendTrades {
  private readonly months: Months;
  private readonly markets = new Set<string>();
  private readonly outcomes = new Set<string>();

  /** `told` is handed the times of rows that were new. With rollups 'later' none is touched: who asks for that has them rebuilt. */
  constructor(
    private readonly told: (times: Date[]) => void = () => undefined,
    private readonly rollups: 'now' | 'later' = 'now',
  ) {
    this.months = new Months(rollups);
  }

  /** Appends what is new; returns how many rows were. Rows known from another feed are completed. */
  async append(rows: TradeFact[], client: PoolClient): Promise<number> {
    await lockRollups(client);
    // Markets first: what was taken on one whose category changes is moved before more is added.
    await this.noteMarkets(rows, client);
    const written: Written[] = [];
    for (const [table, part] of await this.months.sort(rows, client)) written.push(await write(table, part, client));
    const new_tokens = await this.noteOutcomes(rows, client);
    await noteWallets(rows, client);
    const appended = written.flatMap((part) => part.appended);
    if (this.rollups === 'now') {
      const completed = written.flatMap((part) => part.completed);
      await roll(client, newChanges(rows, appended), completed, new_tokens);
    }
    this.told(appended.map(({ seconds }) => new Date(seconds * 1_000)));
    return appended.length;
  }

  private async noteMarkets(rows: TradeFact[], client: PoolClient): Promise<void> {
    const stubs = [...firstOfEach(rows, this.markets, (row) => (row.title === null ? `?${row.condition_id}` : row.condition_id)).values()]
      // A row with a title says more than one without.
      .sort((a, b) => before(a.condition_id, b.condition_id) || Number(b.title !== null) - Number(a.title !== null))
      .filter((row, index, sorted) => row.condition_id !== sorted[index - 1]?.condition_id);
    if (stubs.length === 0) return;
    const category = (row: TradeFact): string =>
      categoryOf({ tags: [], slugs: row.slug ? [row.slug, row.event_slug ?? ''] : [row.title ?? ''] });
    const columns = [
      stubs.map((row) => row.condition_id),
      stubs.map((row) => row.title),
      stubs.map((row) => row.slug),
      stubs.map((row) => row.event_slug),
      stubs.map(category),
    ];
    const placed = this.rollups === 'now' ? await listCategories(client, stubs.map(({ condition_id }) => condition_id)) : null; // prettier-ignore
    await client.query(STUB_MARKETS, columns);
    if (placed !== null) await moveVolumes(client, placed);
  }

  /** Tells the markets of which a token is new, or its place. */
  private async noteOutcomes(rows: TradeFact[], client: PoolClient): Promise<string[]> {
    const named = rows.filter((row) => row.token_id !== null && row.outcome !== null);
    const stubs = [...firstOfEach(named, this.outcomes, (row) => `${row.token_id}|${row.outcome_index ?? ''}`).values()]
      .sort(
        (a, b) => before(a.token_id as string, b.token_id as string) || Number(b.outcome_index !== null) - Number(a.outcome_index !== null),
      )
      .filter((row, index, sorted) => row.token_id !== sorted[index - 1]?.token_id);
    if (stubs.length === 0) return [];
    const noted = await client.query<{ condition_id: string }>(STUB_OUTCOMES, [
      stubs.map((row) => row.condition_id),
      stubs.map((row) => row.token_id),
      stubs.map((row) => row.outcome_index),
      stubs.map((row) => row.outcome),
    ]);
    return [...new Set(noted.rows.map((row) => row.condition_id))];
  }
}

interface Written {
  appended: Appended[];
  completed: HourChange[];
}

/** Appends the rows that are not in the table yet, and completes those that are. */
async function write(table: string, rows: TradeFact[], client: PoolClient): Promise<Written> {
  const values = columnsOf(rows);
  const { append, complete } = NAMES(table);
  // The longest statement goes first: the next batch is decoded while it runs.
  const appended = await client.query<Appended>({ name: append, text: APPEND(table), values });
  if (appended.rowCount === rows.length) return { appended: appended.rows, completed: [] };
  const completed = await client.query<HourChange>({ name: complete, text: COMPLETE(table), values });
  return { appended: appended.rows, completed: completed.rows };
}

/** Brings the rollups up to rows that were appended or completed. */
async function roll(
  client: PoolClient,
  changes: (HourChange & TradeFact)[],
  completed: HourChange[],
  new_tokens: readonly string[],
): Promise<void> {
  await rollHours(client, [...changes, ...completed]);
  await rollVolumes(client, [...changes, ...completed]);
  await rollLatest(client, [...changes, ...completed]);
  const facts = changes.map((change) => ({ ...change, usdc_size: change.usdc }));
  await rollPositions(client, { facts, restated: completed.filter(({ usdc }) => Number(usdc) !== 0), new_tokens });
}

/** First row of each key that is not in `known` yet; the keys are added to it. */
function firstOfEach(rows: TradeFact[], known: Set<string>, keyOf: (row: TradeFact) => string): Map<string, TradeFact> {
  const found = new Map<string, TradeFact>();
  for (const row of rows) {
    const key = keyOf(row);
    if (known.has(key)) continue;
    known.add(key);
    found.set(key, row);
  }
  return found;
}

async function noteWallets(rows: TradeFact[], client: PoolClient): Promise<void> {
  const wallets = new Map<string, { traded: Date | null; seen: Date }>();
  for (const { wallet, timestamp, price } of rows) {
    const known = wallets.get(wallet);
    const traded = price === null ? (known?.traded ?? null) : earlier(known?.traded ?? null, timestamp);
    wallets.set(wallet, { traded, seen: earlier(known?.seen ?? null, timestamp) });
  }
  const ordered = [...wallets].sort(([a], [b]) => before(a, b));
  const values = [ordered.map(([wallet]) => wallet), ordered.map(([, { traded }]) => traded), ordered.map(([, { seen }]) => seen)];
  await client.query({ name: 'pm_note_wallets', text: WALLETS, values });
}

const earlier = (known: Date | null, time: Date): Date => (known !== null && known <= time ? known : time);

const HASH = /^0x[0-9a-f]*$/;

/** Columns as array texts, which need no escaping; but a transaction's hash is whatever the upstream wrote. */
function columnsOf(rows: TradeFact[]): unknown[] {
  const column = (key: (typeof PLAIN_COLUMNS)[number]): string => arrayOf(rows.map((row) => row[key]));
  const seconds = arrayOf(rows.map(({ timestamp }) => timestamp.getTime() / 1_000));
  const [condition_id, ...others] = PLAIN_COLUMNS.map(column);
  const hashes = rows.map(({ tx_hash }) => tx_hash);
  return [condition_id, seconds, ...others, hashes.every((hash) => hash === null || HASH.test(hash)) ? arrayOf(hashes) : hashes];
}

const PLAIN_COLUMNS = ['condition_id', 'trade_id', 'wallet', 'token_id', 'side', 'price', 'size', 'usdc_size', 'is_taker'] as const;
