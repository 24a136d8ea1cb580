import type { TempoChain } from '../../src/chains/tempo';
import { RecentTempo } from '../../src/chains/tempo-recent';

test('the newest block is asked for again after a second, whatever the clock says meanwhile', async () => {
  jest.useFakeTimers({ now: Date.parse('2026-03-01T13:00:00Z') });
  try {
    let asked = 0;
    const recent = new RecentTempo({ head: async () => ({ time: (asked += 1), base_fee: 1n }) } as unknown as TempoChain);
    const { signal } = new AbortController();
    await recent.head(signal);
    await recent.head(signal);
    expect(asked).toBe(1);
    jest.setSystemTime(Date.parse('2026-03-01T12:00:00Z'));
    jest.advanceTimersByTime(1_001);
    await recent.head(signal);
    expect(asked).toBe(2);
  } finally {
    jest.useRealTimers();
  }
});

test('an access key that one account lists is none of another, nor of one that does not list it yet', async () => {
  const listing = new Set(['owner']);
  const recent = new RecentTempo({
    accessKey: async (owner: string) => ({ authorized: listing.has(owner), limit: null, scopes: null }),
  } as unknown as TempoChain);
  const { signal } = new AbortController();
  const lists = (owner: string): Promise<boolean> => recent.listsAccessKey(owner, 'key', 'token', 0, signal);
  expect([await lists('owner'), await lists('other'), await lists('other')]).toEqual([true, false, false]);
  listing.add('other').delete('owner');
  expect([await lists('other'), await lists('owner')]).toEqual([true, true]);
});
