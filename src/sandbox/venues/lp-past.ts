import { addTo } from '../../lib/grouped';
import type { WorldPage } from '../simulator/world';
import { Past } from './past';

type Row = Readonly<Record<string, unknown>>;

/** A transaction that the pretended chain knows. */
export interface KnownTx {
  signature: string;
  slot: number;
  /** Unix seconds. */
  at: number;
  err: unknown;
  /** Accounts it can be found by: its payer and every program it calls. */
  accounts: readonly string[];
  result: Row;
}

/** What the pretended pools have told so far. */
export class PoolsPast extends Past {
  /** Oldest first. */
  txs: KnownTx[] = [];
  readonly bySignature = new Map<string, KnownTx>();
  /** Hourly buckets by pool, and events by position. */
  readonly volumes = new Map<string, Row[]>();
  readonly histories = new Map<string, Row[]>();
  private fresh: KnownTx[] = [];

  protected take({ name, records }: WorldPage): void {
    for (const record of records as Row[])
      if ('result' in record) this.fresh.push(knownTx(record.result as Row));
      else if ('events' in record) for (const event of record.events as Row[]) addTo(this.histories, String(event.positionAddress), event);
      else if ('timeframe' in record) for (const bucket of record.data as Row[]) addTo(this.volumes, name.split('_')[1] as string, bucket);
  }

  protected arrive(): void {
    this.fresh.sort((a, b) => a.at - b.at);
    for (const tx of this.fresh) this.bySignature.set(tx.signature, tx);
    this.txs.push(...this.fresh);
    this.fresh = [];
  }

  protected forget(before: Date): void {
    const since = before.getTime() / 1_000;
    for (const tx of this.txs) if (tx.at < since) this.bySignature.delete(tx.signature);
    this.txs = this.txs.filter((tx) => tx.at >= since);
    for (const [map, key] of [[this.histories, 'blockTime'] as const, [this.volumes, 'timestamp'] as const])
      for (const [name, rows] of map) if (rows.every((row) => (row[key] as number) < since)) map.delete(name);
  }
}

function knownTx(result: Row): KnownTx {
  const { meta, transaction } = result as {
    meta: { err: unknown; loadedAddresses: { readonly: string[] } };
    transaction: { message: { accountKeys: string[] }; signatures: [string] };
  };
  return {
    signature: transaction.signatures[0],
    slot: result.slot as number,
    at: result.blockTime as number,
    err: meta.err,
    accounts: [...transaction.message.accountKeys, ...meta.loadedAddresses.readonly],
    result,
  };
}
