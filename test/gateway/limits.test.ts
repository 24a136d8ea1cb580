import { callerOf, RateLimit, Slots } from '../../src/gateway/limits';

describe('rate limit', () => {
  test('counts per caller and minute, and says when to come back', () => {
    let now = 0;
    const limit = new RateLimit(2, 'empty answers', () => now);
    limit.count('a');
    limit.count('a');
    limit.count('b');
    now = 20_000;
    expect(() => limit.count('a')).toThrow(
      expect.objectContaining({
        code: 'rate_limited',
        message: 'More than 2 empty answers in a minute.',
        context: expect.objectContaining({ retry_after_s: 40 }),
      }),
    );
    // Never at once: that would be refused again.
    now = 59_999;
    expect(() => limit.count('a')).toThrow(expect.objectContaining({ context: expect.objectContaining({ retry_after_s: 1 }) }));
    now = 60_000;
    expect(() => limit.count('a')).not.toThrow();
  });

  test('who is refused at the last moment is not told to come at once', () => {
    const times = [0, 59_999.9, 60_000];
    const limit = new RateLimit(1, 'requests', () => times.shift() as number);
    limit.count('a');
    expect(() => limit.count('a')).toThrow(expect.objectContaining({ context: expect.objectContaining({ retry_after_s: 1 }) }));
  });

  test('who stays below it is never refused, however long', () => {
    let now = 0;
    const limit = new RateLimit(2, 'empty answers', () => now);
    for (; now < 600_000; now += 40_000) limit.count('a');
  });

  test('a clock that is set back locks nobody out', () => {
    jest.useFakeTimers({ now: Date.parse('2026-03-01T13:00:00Z') });
    try {
      const limit = new RateLimit(1, 'requests');
      limit.count('a');
      jest.setSystemTime(Date.parse('2026-03-01T12:00:00Z'));
      jest.advanceTimersByTime(60_000);
      expect(() => limit.count('a')).not.toThrow();
    } finally {
      jest.useRealTimers();
    }
  });

  test('0 is no limit', () => {
    const limit = new RateLimit(0, 'requests');
    for (let index = 0; index < 10_000; index += 1) limit.count('a');
  });
});

test.each([
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['2001:db8:1:2:3:4:198.51.100.7', '2001:db8:1:2::/64'],
  [undefined, ''],
])('%s is counted as %s', (ip, caller) => expect(callerOf(ip)).toBe(caller));

describe('slots', () => {
  const never = new AbortController().signal;
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

  test('never more at once than there are slots, first come first served', async () => {
    const slots = new Slots(3, 5_000);
    let running = 0;
    let most = 0;
    const order: number[] = [];
    const work = (index: number): Promise<void> =>
      slots.run(never, async () => {
        order.push(index);
        running += 1;
        most = Math.max(most, running);
        await pause(5);
        running -= 1;
      });
    await Promise.all(Array.from({ length: 12 }, (_, index) => work(index)));
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 12 }, (_, index) => index));
    expect([slots.active, slots.waiting]).toEqual([0, 0]);
  });

  test('who waits too long is refused and takes no slot later', async () => {
    const slots = new Slots(1, 30);
    const long = slots.run(never, () => pause(120));
    await expect(slots.run(never, () => pause(0))).rejects.toMatchObject({ code: 'at_capacity', context: { retry_after_s: 1 } });
    await long;
    expect([slots.active, slots.waiting]).toEqual([0, 0]);
  });

  test('work that throws gives its slot back; a caller that leaves stops waiting', async () => {
    const slots = new Slots(1, 1_000);
    await expect(slots.run(never, () => Promise.reject(new Error('broke')))).rejects.toThrow('broke');
    const leaver = new AbortController();
    const long = slots.run(never, () => pause(50));
    const waiting = slots.run(leaver.signal, () => pause(0));
    leaver.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    const work = jest.fn();
    await expect(slots.run(leaver.signal, work)).rejects.toThrow('left');
    expect(work).not.toHaveBeenCalled();
    await long;
    expect([slots.active, slots.waiting]).toEqual([0, 0]);
  });
});
