import type { PaymentLog, Protocol, ProtocolName } from './protocol';

const PROBE_EVERY_MS = 15_000;
const PROBE_MS = 2_000;
/** A probe this old still answers a question about health: /health is free and must not cost RPC calls. */
const FRESH_MS = 3_000;
/** One lost probe is an accident. */
const FAILURES_TO_DROP = 2;

interface ProbeResult {
  at: number;
  latency_ms: number | null;
  failures: number;
}

/** Which ways to pay work at the moment; the others are not offered while there is one that does. */
export class Availability {
  private readonly results = new Map<ProtocolName, ProbeResult>();
  private readonly underWay = new Map<ProtocolName, Promise<ProbeResult>>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly protocols: readonly Protocol[],
    private readonly log: PaymentLog,
  ) {}

  start(): void {
    this.timer ??= setInterval(() => this.protocols.forEach((protocol) => void this.probe(protocol)), PROBE_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  /** Protocols to offer. All of them when none works: the price is worth knowing, and a proof is refused without a charge. */
  offered(): readonly Protocol[] {
    const working = this.protocols.filter(({ name }) => (this.results.get(name)?.failures ?? 0) < FAILURES_TO_DROP);
    return working.length === 0 ? this.protocols : working;
  }

  /** Round trip of the newest probe in milliseconds, null when it failed. */
  async latency(protocol: Protocol): Promise<number | null> {
    const known = this.results.get(protocol.name);
    return (known !== undefined && Date.now() - known.at < FRESH_MS ? known : await this.probe(protocol)).latency_ms;
  }

  /** Asks the chain now; one question at a time for each protocol. Never rejects. */
  probe(protocol: Protocol): Promise<ProbeResult> {
    const asking = this.underWay.get(protocol.name) ?? this.ask(protocol).finally(() => this.underWay.delete(protocol.name));
    this.underWay.set(protocol.name, asking);
    return asking;
  }

  private async ask(protocol: Protocol): Promise<ProbeResult> {
    const before = this.results.get(protocol.name)?.failures ?? 0;
    let result: ProbeResult;
    try {
      const { latency_ms } = await protocol.probe(AbortSignal.timeout(PROBE_MS));
      result = { at: Date.now(), latency_ms, failures: 0 };
      if (before >= FAILURES_TO_DROP) this.log.info({ protocol: protocol.name }, 'a way to pay is back');
    } catch (error) {
      result = { at: Date.now(), latency_ms: null, failures: before + 1 };
      if (result.failures === FAILURES_TO_DROP)
        this.log.error({ protocol: protocol.name, error: (error as Error).message }, 'a way to pay is down and no longer offered');
    }
    this.results.set(protocol.name, result);
    return result;
  }
}
