import { type Repeated, repeat } from '../lib/repeat';
import { FailureThrottle } from '../lib/failure-throttle';
import type { PaymentsConfig } from './config';
import type { Ledger } from './ledger';
import type { PaymentFigures, PaymentLog, PaymentRecord, Protocol, ProtocolName, ReconcileReport } from './protocol';
import type { Rechallenge } from './rechallenge';
import type { Upkeep } from './upkeep';

const LOOK_MS = 5_000;
const BATCH = 50;
/** Admission, preparation and the buyer's patience come on top of the work itself. */
const LEASE_MARGIN_MS = 60_000;

/** Ends what nobody heard the end of, by the chain's word only: it looks, it never sends. */
export class Reconciler {
  private passes: Repeated | undefined;

  constructor(
    private readonly config: Pick<PaymentsConfig, 'deadline_ms' | 'reconcile_ms' | 'instance_stale_ms'>,
    private readonly protocols: ReadonlyMap<ProtocolName, Protocol>,
    private readonly ledger: Ledger,
    private readonly upkeep: Upkeep,
    private readonly rechallenge: Rechallenge,
    private readonly log: PaymentLog,
    private readonly figures: PaymentFigures,
  ) {}

  /** First pass now, then one every `reconcile_ms`. */
  async start(): Promise<void> {
    await this.pass();
    const failing = new FailureThrottle();
    this.passes = repeat(async () => {
      await this.pass().catch((error: Error) =>
        failing.note(error, (untold) => this.log.error({ error: error.message, untold }, 'reconciliation failed')),
      );
    }, this.config.reconcile_ms);
  }

  async stop(): Promise<void> {
    await this.passes?.stop();
  }

  /** One pass over everything that is due. Throws when the database cannot be reached. */
  async pass(): Promise<ReconcileReport> {
    // Before anything is judged dead: this process may itself have stood still for a while.
    await this.upkeep.beat();
    await this.ledger.catchUp();
    const leftovers = await this.upkeep.takeLeftovers(this.config.instance_stale_ms, this.config.deadline_ms + LEASE_MARGIN_MS);
    if (leftovers.released + leftovers.unresolved > 0) this.log.warn({ ...leftovers }, 'a process ended with payments in flight');
    const resolved = await this.resolveSome(aWhile());
    await lookAtAll(
      () => this.upkeep.takeReleased(BATCH),
      (record) => this.lookBack(record),
      aWhile(),
    );
    await lookAtAll(
      () => this.upkeep.takeUnfinal(BATCH),
      (record) => this.sweep(record),
      aWhile(),
    );
    const open = await this.upkeep.countUnresolved();
    this.figures.unresolved(open);
    await this.upkeep.purge();
    await this.rechallenge.expire();
    return { ...leftovers, ...resolved, open };
  }

  /** A pass, and a look at everything that waits for the chain's word, due or not: a process beside this one may just have put it off. */
  async all(): Promise<ReconcileReport> {
    const report = await this.pass();
    const waiting = await this.upkeep.hasten();
    const { confirmed, failed } = await this.resolveSome((looked) => looked < waiting);
    report.confirmed += confirmed;
    report.failed += failed;
    return { ...report, open: await this.upkeep.countUnresolved() };
  }

  private async resolveSome(more: (looked: number) => boolean): Promise<Pick<ReconcileReport, 'confirmed' | 'failed'>> {
    const outcomes = await lookAtAll(
      () => this.upkeep.takeUnresolved(BATCH),
      (record) => this.resolve(record),
      more,
    );
    const count = (wanted: string): number => outcomes.filter((outcome) => outcome === wanted).length;
    return { confirmed: count('confirmed'), failed: count('failed') };
  }

  private async resolve(record: PaymentRecord): Promise<'confirmed' | 'failed' | 'unknown'> {
    const protocol = this.protocols.get(record.protocol);
    if (protocol === undefined) return 'unknown';
    const settlement = await protocol.settlement.lookup(record, AbortSignal.timeout(LOOK_MS));
    const about = { payment: record.id, protocol: record.protocol, transaction: record.transaction, status: settlement.status };
    if (settlement.status === 'confirmed') {
      const settled_at = await this.ledger.confirmed(record.id, settlement.transaction);
      if (settled_at !== null) this.figures.payment('settled', record);
    }
    if (settlement.status === 'failed' && (await this.ledger.failed(record.id, settlement.reason))) this.figures.payment('failed', record);
    if (settlement.status !== 'unknown') this.log.info(about, 'settlement resolved');
    return settlement.status;
  }

  /** A payment we let go of may have been broadcast by its buyer: then an answer is owed. */
  private async lookBack(record: PaymentRecord): Promise<void> {
    const settlement = await this.protocols.get(record.protocol)?.settlement.lookup(record, AbortSignal.timeout(LOOK_MS));
    if (settlement === undefined || settlement.status === 'unknown') return;
    const verdict = settlement.status === 'confirmed' ? await this.upkeep.owed(record.id) : 'failed';
    if (verdict === 'owed') {
      this.figures.payment('owed', record);
      this.log.warn(
        { payment: record.id, protocol: record.protocol, payer: record.payer, transaction: record.transaction },
        'a released payment was broadcast by its buyer: an answer is owed',
      );
    } else if (verdict !== 'claimed') await this.upkeep.stopLooking(record.id);
  }

  private async sweep(record: PaymentRecord): Promise<void> {
    try {
      const finality = await this.protocols.get(record.protocol)?.settlement.finality(record, AbortSignal.timeout(LOOK_MS));
      if (finality === 'final') await this.upkeep.final(record.id);
      if (finality === 'lost') {
        await this.upkeep.rolledBack(record.id);
        this.figures.payment('rolled_back', record);
        this.log.error(
          { payment: record.id, protocol: record.protocol, transaction: record.transaction },
          'a confirmed payment was rolled back by the chain',
        );
      }
    } catch {
      // The chain did not answer; it is asked again at the next look.
    }
  }
}

/** Until about as much time has passed as one look may take. */
function aWhile(): () => boolean {
  const over = Date.now() + LOOK_MS;
  return () => Date.now() < over;
}

/**
 * Looks at what is due, a batch at a time, for as long as `more` says so: what has piled up, in an outage or because more is sold than one batch a pass
 * holds, must not wait until the chain has forgotten it.
 */
async function lookAtAll<T>(
  take: () => Promise<PaymentRecord[]>,
  look: (record: PaymentRecord) => Promise<T>,
  more: (looked: number) => boolean,
): Promise<T[]> {
  const outcomes: T[] = [];
  for (;;) {
    const due = await take();
    outcomes.push(...(await Promise.all(due.map(look))));
    if (due.length < BATCH || !more(outcomes.length)) return outcomes;
  }
}
