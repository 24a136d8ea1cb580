import type { PoolClient } from 'pg';
import { arrayOf } from '../rollups/array-text';
import { type HourChange, rollHours, rollingHours } from '../rollups/hours';
import { NOTING_FILLS, forgetLeft, rollLatest } from '../rollups/latest-fills';
import { rollPositions } from '../rollups/positions';
import { forgetHours } from '../rollups/told-hours';
import { forgetParticipants } from '../rollups/told-participants';
import { noteLate } from '../rollups/told-settled';
import { ADDING_FILLS, rollVolumes } from '../rollups/volumes';
import { noteFollowed } from '../scoring/follow-days';
import { leaveOrDo } from '../../../workers/remainder';
import type { LoadOptions } from '../../../workers/source';
import type { DataApiRow } from './data-api-row';
import { Months } from './months';
import { Surroundings } from './surroundings';

/** A row of a wallet's history, ready for the store. */
export interface TradeFact extends DataApiRow {
  trade_id: string;
  is_taker: boolean | null;
}

// Instants travel as seconds: the driver's own way of writing dates is slow.
const ROWS = `(SELECT *, to_timestamp(seconds) AS "timestamp" FROM unnest($1::text[], $2::float8[], $3::uuid[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::numeric[],
  $9::numeric[], $10::boolean[], $11::text[]) AS given(condition_id, seconds, trade_id, wallet, token_id, side, price, size, usdc_size, is_taker, tx_hash)) AS row`;

// USDC where the upstream gives none: price × size of a trade, one a share for a payout or a full set; a conversion's cash is unknown, not guessed.
const append = (
  table: string,
): string => `INSERT INTO ${table} (condition_id, "timestamp", trade_id, wallet, token_id, side, price, size, usdc_size, is_taker, tx_hash)
SELECT condition_id, "timestamp", trade_id, wallet, token_id, side, price, size,
  COALESCE(usdc_size, CASE side WHEN 'CONVERSION' THEN 0 ELSE round(size * COALESCE(price, 1), 6) END), is_taker, tx_hash
FROM ${ROWS}
ON CONFLICT (condition_id, "timestamp", trade_id) DO NOTHING`;

// What is new is added to its hours, its categories and its wallets' latest fills by the same statement: it is sent once.
const APPEND = `WITH appended AS (${append('pm_trade')} RETURNING *), ${rollingHours('appended')},
fill AS (SELECT * FROM change WHERE side IN ('BUY', 'SELL')), ${ADDING_FILLS}, ${NOTING_FILLS}
SELECT trade_id, usdc_size, EXISTS (SELECT 1 FROM counted WHERE wallets = 0) AS left_behind FROM appended`;

// The same fill in two feeds: one knows that it took, the other states its USDC. Whichever came first, the row ends the same.
const complete = (table: string): string => `
UPDATE ${table} AS kept SET is_taker = COALESCE(kept.is_taker, row.is_taker), usdc_size = COALESCE(row.usdc_size, kept.usdc_size)
FROM ${ROWS} JOIN ${table} AS was ON was.condition_id = row.condition_id AND was."timestamp" = row."timestamp" AND was.trade_id = row.trade_id
WHERE kept.condition_id = row.condition_id AND kept."timestamp" = row."timestamp" AND kept.trade_id = row.trade_id
  AND ((kept.is_taker IS NULL AND row.is_taker IS NOT NULL) OR kept.usdc_size <> row.usdc_size)
RETURNING kept.condition_id, kept.token_id, kept.wallet, kept.side, kept.price, kept."timestamp", kept.trade_id, 0 AS rows, 0 AS size, kept.usdc_size - was.usdc_size AS usdc,
  (kept.is_taker IS TRUE AND was.is_taker IS NOT TRUE)::int AS takes, CASE WHEN kept.is_taker AND was.is_taker IS NOT TRUE THEN kept.size ELSE 0 END AS taker_size,
  CASE WHEN kept.is_taker THEN kept.usdc_size ELSE 0 END - CASE WHEN was.is_taker THEN was.usdc_size ELSE 0 END AS taker_usdc`;

interface Appended {
  trade_id: string;
  usdc_size: string;
  /** Whether some day or hour has none of the wallets left that were last there. */
  left_behind: boolean;
}

type Change = HourChange & TradeFact;

/** What the rows that were really appended add. */
function newChanges(rows: readonly TradeFact[], appended: readonly Appended[]): Change[] {
  const byId = new Map(rows.map((row) => [row.trade_id, row]));
  return appended.map(({ trade_id, usdc_size }) => {
    const row = byId.get(trade_id) as TradeFact;
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

/** What is known to stand around the rows of a page, or of all pages of one transaction. */
interface Known {
  months: Months;
  surroundings: Surroundings;
}

const MEMORY = 'prediction.known';

/** Appends rows of one page: partitions, what they tell of markets, outcomes and wallets, and the facts themselves. */
export class AppendTrades {
  private readonly known: Known;

  /** With rollups 'later' none is touched: who asks for that has them rebuilt; and only times of batches in which no row was known are told. */
  constructor(private readonly options: Pick<LoadOptions, 'appended' | 'rollups' | 'memory' | 'remainder'>) {
    const { rollups = 'now', memory } = options;
    this.known = (memory?.get(MEMORY) as Known | undefined) ?? { months: new Months(rollups), surroundings: new Surroundings(rollups) };
    memory?.set(MEMORY, this.known);
  }

  /** Appends what is new; returns how many rows were. Rows known from another feed are completed. */
  async append(rows: TradeFact[], client: PoolClient): Promise<number> {
    const parts = await this.known.months.sort(rows, client);
    const noted = this.known.surroundings.note(rows, client);
    if (this.options.rollups === 'later') {
      // The server notes while the rows are made into text: what they are appended by goes behind it.
      const [inserted] = await Promise.all([this.appendAlone(parts, client), noted]);
      return inserted;
    }
    const new_tokens = await noted;
    const written = await write(rows, client);
    await leaveOrDo(this.options.remainder, client, roll, { ...written, new_tokens });
    this.options.appended?.(written.appended.map(({ timestamp }) => timestamp));
    return written.appended.length;
  }

  /** Without rollups. Rows go to pm_trade, or to a month's own table while it is filled before it becomes a partition. */
  private async appendAlone(parts: ReadonlyMap<string, TradeFact[]>, client: PoolClient): Promise<number> {
    let inserted = 0;
    for (const [table, part] of parts) {
      const values = columnsOf(part);
      const { rowCount } = await client.query({ name: `pm_append_${table}`, text: append(table), values });
      if (rowCount === part.length) this.options.appended?.(part.map(({ timestamp }) => timestamp));
      else await client.query({ name: `pm_complete_${table}`, text: complete(table), values });
      inserted += rowCount ?? 0;
    }
    return inserted;
  }
}

interface Written {
  appended: Change[];
  completed: HourChange[];
}

/** Appends the rows that are not there yet, and completes those that are; hours, volumes and latest fills are brought up to that. */
async function write(rows: TradeFact[], client: PoolClient): Promise<Written> {
  const values = columnsOf(rows);
  const appended = await client.query<Appended>({ name: 'pm_append_trades', text: APPEND, values });
  if (appended.rows[0]?.left_behind === true) await forgetLeft(client);
  const changes = newChanges(rows, appended.rows);
  if (changes.length === rows.length) return { appended: changes, completed: [] };
  const completed = await client.query<HourChange>({ name: 'pm_complete_trades', text: complete('pm_trade'), values });
  await rollHours(client, completed.rows);
  await rollVolumes(client, completed.rows);
  await rollLatest(client, completed.rows);
  await noteFollowed(client, completed.rows.filter(({ usdc }) => Number(usdc) !== 0)); // prettier-ignore
  return { appended: changes, completed: completed.rows };
}

/** Rows that were written, and markets of which they told a token for the first time. */
interface Rolled extends Written {
  new_tokens: readonly string[];
}

/** Brings positions up to rows that were appended or completed, and takes out what was told of their hours and markets. */
async function roll(client: PoolClient, rolled: readonly Rolled[]): Promise<void> {
  const changes = rolled.flatMap(({ appended }) => appended);
  const completed = rolled.flatMap((part) => part.completed);
  await forgetHours(client, [...changes, ...completed]);
  await forgetParticipants(client, [...changes, ...completed]);
  const facts = changes.map((change) => ({ ...change, usdc_size: change.usdc }));
  const restated = completed.filter(({ usdc }) => Number(usdc) !== 0);
  await rollPositions(client, { facts, restated, new_tokens: [...new Set(rolled.flatMap(({ new_tokens }) => new_tokens))] });
  await noteLate(client, changes);
}

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
