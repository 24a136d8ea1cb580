import { Availability } from '../../src/payments/availability';
import type { Protocol, ProtocolName } from '../../src/payments/protocol';
import { rememberingLog } from './till';

/** As much of a protocol as availability sees. */
function protocol(name: ProtocolName, probe: () => Promise<{ latency_ms: number }>): Protocol & { probes: number } {
  const fake = { name, probes: 0, probe: () => ((fake.probes += 1), probe()) };
  return fake as unknown as Protocol & { probes: number };
}

describe('which ways to pay are offered', () => {
  const fine = async (): Promise<{ latency_ms: number }> => ({ latency_ms: 3 });
  const broken = (): Promise<never> => Promise.reject(new Error('cannot receive'));

  it('one is not offered after two failed probes, and again after one good one', async () => {
    const lines: string[] = [];
    let works = false;
    const [x402, tempo] = [protocol('x402', () => (works ? fine() : broken())), protocol('mpp_tempo', fine)];
    const availability = new Availability([x402, tempo], rememberingLog(lines));
    const names = (): string[] => availability.offered().map(({ name }) => name);
    await availability.probe(x402);
    expect(names()).toEqual(['x402', 'mpp_tempo']);
    await availability.probe(x402);
    expect(names()).toEqual(['mpp_tempo']);
    await availability.probe(x402);
    works = true;
    await availability.probe(x402);
    expect(names()).toEqual(['x402', 'mpp_tempo']);
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual([
      'a way to pay is down and no longer offered',
      'a way to pay is back',
    ]);
  });

  it('all are offered when none works', async () => {
    const only = protocol('x402', broken);
    const availability = new Availability([only], rememberingLog([]));
    for (let time = 0; time < 3; time += 1) await availability.probe(only);
    expect(availability.offered()).toEqual([only]);
  });

  it('a question about health asks the chain at most once every few seconds, and once at a time', async () => {
    const slow = protocol('x402', async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return { latency_ms: 20 };
    });
    const availability = new Availability([slow], rememberingLog([]));
    expect(await Promise.all(Array.from({ length: 50 }, () => availability.latency(slow)))).toEqual(Array.from({ length: 50 }, () => 20));
    expect(await availability.latency(slow)).toBe(20);
    expect(slow.probes).toBe(1);
    const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_100);
    await availability.latency(slow);
    clock.mockRestore();
    expect(slow.probes).toBe(2);
  });

  it('a chain that does not answer is given up after two seconds', async () => {
    const timeout = jest.spyOn(AbortSignal, 'timeout');
    await new Availability([], rememberingLog([])).probe(protocol('x402', fine));
    expect(timeout.mock.calls).toEqual([[2_000]]);
    timeout.mockRestore();
  });

  it('each is asked every fifteen seconds, from the start until it stops', async () => {
    jest.useFakeTimers({ now: Date.parse('2026-03-01T13:00:00Z') });
    const [x402, tempo] = [protocol('x402', fine), protocol('mpp_tempo', broken)];
    const availability = new Availability([x402, tempo], rememberingLog([]));
    // One step at a time: a question that is under way is not asked again.
    const tickFor = async (ms: number): Promise<void> => {
      for (let passed = 0; passed < ms; passed += 15_000) {
        jest.advanceTimersByTime(15_000);
        for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
      }
    };
    availability.start();
    availability.start();
    await tickFor(30_000);
    expect([x402.probes, tempo.probes, availability.offered()]).toEqual([2, 2, [x402]]);
    availability.stop();
    await tickFor(30_000);
    expect([x402.probes, tempo.probes]).toEqual([2, 2]);
    jest.useRealTimers();
  });
});
