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
  });
});
