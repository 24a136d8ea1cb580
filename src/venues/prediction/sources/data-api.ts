import type { PoolClient } from 'pg';
import type { IngestReport, LoadOptions, RecordedPage, RecordedSource } from '../../../workers/source';
import { AppendTrades, type TradeFact } from './append-trades';
import { CASH_REASONS, decodeDataApiRow, looksLikeDataApiRow } from './data-api-row';
import { NaturalKeys } from './natural-key';
import { readPage } from './reading';
import { isFields, isUnusable } from './record';

/** Rows of a page object `{data: […]}`, or the record itself. */
const rowsWithin = (record: unknown): unknown[] => (isFields(record) && Array.isArray(record.data) ? (record.data as unknown[]) : [record]);

const firstRow = (record: unknown): unknown => rowsWithin(record)[0];

const isActivity = (record: unknown): boolean => isFields(record) && 'type' in record;

/** A recording named after a request for both sides (`takerOnly=false`) is no feed of takers. */
const namesBothSides = (page: string): boolean => /taker_?only(=|-|_|%3d)(false|0)/i.test(page);

function load(name: string, ofTakers: boolean, page: RecordedPage, client: PoolClient, options: LoadOptions): Promise<IngestReport> {
  const keys = new NaturalKeys();
  const target = new AppendTrades(options);
  const is_taker = ofTakers && !namesBothSides(page.name) ? true : null;
  return readPage<TradeFact>(page, client, options, {
    name,
    *decode(record, reasons) {
      for (const row of rowsWithin(record)) {
        const decoded = decodeDataApiRow(row);
        if (isUnusable(decoded)) reasons.add(decoded.skip);
        else yield Object.assign(decoded, { trade_id: keys.idOf(decoded), is_taker: decoded.price === null ? null : is_taker });
      }
    },
    write: (rows, into) => target.append(rows, into),
    timeOf: (row) => row.timestamp,
  });
}

/** `/activity`: a wallet's own history with its redemptions, splits and merges. Its trades are not known to be takers'. */
export const dataApiActivity: RecordedSource = {
  name: 'prediction.activity',
  harmless: CASH_REASONS,
  recognises: (first) => looksLikeDataApiRow(firstRow(first)) && isActivity(firstRow(first)),
  load: (page, client, options) => load('prediction.activity', false, page, client, options),
};

/** `/trades`: by default takers only, each match once. */
export const dataApiTrades: RecordedSource = {
  name: 'prediction.trades',
  recognises: (first) => looksLikeDataApiRow(firstRow(first)) && !isActivity(firstRow(first)),
  load: (page, client, options) => load('prediction.trades', true, page, client, options),
};
