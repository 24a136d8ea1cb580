import fc from 'fast-check';
import { type Stance, byMoney, byScore, consensusOf, independentOf } from '../../../../src/venues/prediction/consensus';
import { changePercent, meanScore, trendOf } from '../../../../src/venues/prediction/exact';
import { pricesAt } from '../../../../src/venues/prediction/market-prices';
import { readSearch, relevanceOf, wordsOf } from '../../../../src/venues/prediction/market-search';
import { WordVectors, countWords } from '../../../../src/venues/prediction/market-words';
import type { ListedMarket } from '../../../../src/venues/prediction/queries/market-lists';
import { type Cut, cutAt } from '../../../../src/venues/prediction/queries/pieces';
import { spansOf } from '../../../../src/venues/prediction/queries/score-runs';
import { groupsOf } from '../../../../src/venues/prediction/resolvers/flows-groups';
import { labelOf, momentumOf } from '../../../../src/venues/prediction/resolvers/flows-sentiment';
import { phaseOf } from '../../../../src/venues/prediction/resolvers/signals-flow';
import { reaches } from '../../../../src/venues/prediction/resolvers/signals-opportunities';
import { strengthOf } from '../../../../src/venues/prediction/resolvers/signals-smart';

const HOUR = 3_600_000;

test('rows of a year of hours and of the year before are put together without looking through them for each hour', () => {
  let looks = 0;
  const rows = Array.from({ length: 2 * 8_760 }, (_, n) => ({
    get label() {
      looks += 1;
      return String(n >> 1);
    },
    part: 1 + (n % 2),
    buy_usdc: '0',
    sell_usdc: '0',
    volume: String(1 + (n % 2)),
    trades: 1,
  }));
  const groups = groupsOf(rows, [{ label: '8759', traders: 3 }], 2);
  expect(groups).toHaveLength(8_760);
  expect(groups.at(-1)).toMatchObject({ group: '8759', volume: '2', previous_volume: '1', unique_traders: 3, trend: 'rising' });
  expect(looks).toBeLessThan(10 * rows.length);
});

describe('cutting time', () => {
  /** Whether an instant's hour is read whole, from rollups. */
  const wholeHour = (cut: Cut, time: number): boolean => {
    const hour = Math.floor(time / HOUR) * HOUR;
    return hour >= cut.whole.from.getTime() && hour < cut.whole.to.getTime() && !cut.edges.some((edge) => edge.from.getTime() === hour);
  };
  /** How often an instant is read: from a whole hour, and from facts. */
  const readings = (cut: Cut, time: number): number => {
    return Number(wholeHour(cut, time)) + cut.edges.filter((edge) => time >= edge.from.getTime() && time < edge.to.getTime()).length;
  };
  const instants = fc
    .uniqueArray(fc.integer({ min: 0, max: 40 * HOUR }), { minLength: 2, maxLength: 9 })
    .map((times) => times.sort((a, b) => a - b));

  test('every instant within is read once, every other never', () => {
    fc.assert(
      fc.property(
        instants,
        fc.array(fc.integer({ min: -2 * HOUR, max: 42 * HOUR }), { minLength: 20, maxLength: 60 }),
        fc.boolean(),
        (times, asked, moved) => {
          const cut = cutAt(times.map((time) => new Date(time)), moved ? HOUR / 2 : 0); // prettier-ignore
          expect(cut.edges).toHaveLength(times.length);
          const [first, last] = [times[0] as number, times.at(-1) as number];
          for (const time of [...asked, ...times]) expect(readings(cut, time)).toBe(time >= first && time < last ? 1 : 0);
        },
      ),
    );
  });

  test('a whole hour never holds a bound', () => {
    fc.assert(
      fc.property(instants, (times) => {
        const cut = cutAt(times.map((time) => new Date(time)));
        for (const time of times) if (time % HOUR !== 0) expect(wholeHour(cut, time)).toBe(false);
      }),
    );
  });

  test('a day is judged by the run of the day before it, what is older than all by the first', () => {
    const window = { from: new Date('2026-03-01T10:17:00Z'), to: new Date('2026-03-09T08:00:00Z') };
    const spans = spansOf(['2026-03-02', '2026-03-05', '2026-03-09'], window).map((span) => [
      span.day,
      span.from.toISOString(),
      span.to.toISOString(),
    ]);
    expect(spans).toEqual([
      ['2026-03-02', '2026-03-01T10:00:00.000Z', '2026-03-06T00:00:00.000Z'],
      ['2026-03-05', '2026-03-06T00:00:00.000Z', '2026-03-09T08:00:00.000Z'],
    ]);
    expect(spansOf([], window)).toEqual([]);
    expect(spansOf(['2026-01-01'], window)).toEqual([{ day: '2026-01-01', from: new Date('2026-03-01T10:00:00Z'), to: window.to }]);
  });
});

describe('consensus', () => {
  const stance = (wallet: string, token_id: string, cost: number, score: number, opened = 0): Stance => ({
    condition_id: 'c', token_id, wallet, score, tags: [], shares: '1', cost: String(cost), paid_shares: '1', paid_usdc: String(cost), opened_at: new Date(opened),
  }); // prettier-ignore

  test('wallets count net, weighed by how far they stand above 50', () => {
    // b holds both sides: 100 − 60 on Yes. d stands at 50 and weighs nothing.
    const found = consensusOf([stance('a', 'yes', 100, 75, 0), stance('b', 'yes', 100, 100, 1e6), stance('b', 'no', 60, 100, 1e6), stance('c', 'no', 30, 80, 2e6), stance('d', 'no', 500, 50, 3e6)], byScore); // prettier-ignore
    expect([...found.weights]).toEqual([['yes', 50 + 40], ['no', 18]]); // prettier-ignore
    expect([found.token_id, found.strength]).toEqual(['yes', 0.833333]);
    expect(found.independent_wallets).toBeCloseTo(108 ** 2 / (50 ** 2 + 40 ** 2 + 18 ** 2), 5);
  });

  test('fewer than three wallets have a favourite but no strength; nobody has neither', () => {
    expect(consensusOf([stance('a', 'yes', 10, 70), stance('b', 'no', 9, 70)], byScore)).toMatchObject({ token_id: 'yes', strength: null });
    expect(consensusOf([stance('a', 'yes', 10, 70), stance('b', 'no', 10, 70)], byScore).token_id).toBe('no');
    expect(consensusOf([], byMoney)).toMatchObject({ token_id: null, strength: null, independent_wallets: null });
    expect(consensusOf([stance('a', 'yes', 10, 40), stance('b', 'yes', 9, 40), stance('c', 'no', 9, 40)], byScore)).toMatchObject({
      token_id: null,
      strength: null,
    });
  });

  test('wallets that open one outcome within a minute of each other count as one', () => {
    const wallets = [0, 50_000, 110_000, 300_000].map((opened) => ({ token_id: 'yes', opened_at: new Date(opened), weight: 1 }));
    // 0, 50 and 110 s are a chain: 3² + 1².
    expect(independentOf(wallets)).toBe(16 / 10);
    expect(independentOf(wallets.map((one, index) => ({ ...one, token_id: String(index) })))).toBe(4);
    // A minute is in step, a second more is not.
    const opened = [1_000, 61_000, 121_000, 182_000].map((at) => ({ token_id: 'yes', opened_at: new Date(at), weight: 1 }));
    expect(independentOf(opened)).toBe(16 / 10);
  });

  test('strength is a share, and independent wallets are at most as many as wallets', () => {
    const stances = fc.array(
      fc.tuple(
        fc.integer({ min: 0, max: 8 }),
        fc.constantFrom('yes', 'no', 'other'),
        fc.integer({ min: 1, max: 1_000 }),
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 0, max: 500_000 }),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(stances, (rows) => {
        const unique = new Map(rows.map((row) => [`${row[0]}|${row[1]}`, row]));
        const found = consensusOf([...unique.values()].map(([wallet, token, cost, score, opened]) => stance(String(wallet), token, cost, score, opened)), byScore); // prettier-ignore
        if (found.strength !== null) expect(found.strength > 0 && found.strength <= 1).toBe(true);
        if (found.token_id !== null) expect(found.weights.get(found.token_id)).toBeCloseTo(Math.max(...found.weights.values()), 5);
        if (found.independent_wallets !== null)
          expect(found.independent_wallets >= 1 - 1e-9 && found.independent_wallets <= found.wallets.length + 1e-9).toBe(true);
        expect(new Set(found.wallets.map((wallet) => wallet.wallet)).size).toBe(found.wallets.length);
      }),
    );
  });
});

describe('words', () => {
  const market = (fields: Partial<ListedMarket>): ListedMarket => ({ condition_id: 'c', question: null, slug: null, event_slug: null, category: 'Other', tags: [], outcomes: [], end_date: null, created_at: null, closed_at: null, resolved_at: null, winning_outcome: null, is_voided: false, ...fields }); // prettier-ignore

  test('a search text is an id, an address, or words', () => {
    const id = `0x${'aB'.repeat(32)}`;
    expect(readSearch(` ${id} `)).toEqual({ exactly: [id.toLowerCase()], words: null });
    expect(readSearch('https://venue.example/event/big-event/will-it-rain?tid=1#top')).toEqual({ exactly: ['will-it-rain'], words: null });
    expect(readSearch('www.venue.example/event/big-event/')).toEqual({ exactly: ['big-event'], words: null });
    expect(readSearch('venue.example/event/big-event/Will-It-Rain')).toEqual({ exactly: ['will-it-rain'], words: null });
    expect(readSearch('v1.5/2 or U.S./EU')).toEqual({ words: ['v1.5', '2', 'or', 'u.s', 'eu'], exactly: null });
    expect(readSearch('U.S./EU')).toEqual({ words: ['u.s', 'eu'], exactly: null });
    expect(readSearch('St.Louis/Chicago')).toEqual({ words: ['st.louis', 'chicago'], exactly: null });
    expect(readSearch('Will  it RAIN? 50%')).toEqual({ words: ['will', 'it', 'rain', '50'], exactly: null });
    expect(readSearch('https://venue.example/event/a%00b')).toEqual({ exactly: [], words: null });
    expect(readSearch('https://venue.example/')).toEqual({ exactly: [], words: null });
    expect(readSearch('?!')).toEqual({ words: [], exactly: null });
    expect(wordsOf("Trump's U.S.-Iran deal, Trump's")).toEqual(["trump's", 'u.s', 'iran', 'deal']);
  });

  test('relevance: a phrase of the question, its words, other texts, parts of words', () => {
    const asked = market({ question: 'Will it rain in Paris?', slug: 'rain-paris', outcomes: ['Yes', 'No'], tags: ['weather'] });
    expect(relevanceOf(asked, ['rain', 'in'])).toBeCloseTo(1);
    expect(relevanceOf(asked, ['paris', 'rain'])).toBeCloseTo(0.8);
    expect(relevanceOf(asked, ['weather'])).toBeCloseTo(0.64);
    expect(relevanceOf(asked, ['eathe'])).toBeCloseTo(0.48);
    expect(relevanceOf(asked, ['rain-paris'])).toBe(1);
  });

  test('texts are like themselves, and the rarer a shared word the more alike', () => {
    const texts = new Map([['a', 'will it rain'], ['b', 'will it snow'], ['c', 'will rain fall'], ['d', ''], ['e', 'will they win']]); // prettier-ignore
    const vectors = new WordVectors(countWords([...texts.values()]), texts);
    expect(vectors.cosine('a', 'a')).toBeCloseTo(1);
    expect(vectors.cosine('a', 'b')).toBe(vectors.cosine('b', 'a'));
    expect(vectors.cosine('a', 'd')).toBe(0);
    expect(vectors.cosine('a', 'b')).toBeGreaterThan(vectors.cosine('a', 'e'));
  });
});

test('current prices: payout, last fill, what the other leaves, the catalogue', () => {
  const at = new Date('2026-03-01T00:00:00Z');
  const outcome = (token_id: string, index: number, fields = {}) =>
    ({
      condition_id: 'c',
      token_id,
      outcome: token_id,
      outcome_index: index,
      price: null,
      price_at: null,
      payout: null,
      ...fields,
    }) as never;
  const fill = (token_id: string, last: string | null, first: string | null = last) => ({ condition_id: 'c', token_id, last, first });
  const prices = (...args: Parameters<typeof pricesAt>): (number | null)[] => pricesAt(...args).map((one) => one.price);
  const open = { resolved_at: null } as never;
  expect(prices(open, [outcome('a', 0), outcome('b', 1)], [fill('a', '0.62')], at, false)).toEqual([0.62, 0.38]);
  expect(prices(open, [outcome('a', 0), outcome('b', 1), outcome('c', 2)], [fill('a', '0.62')], at, false)).toEqual([0.62, null, null]);
  expect(
    prices(
      open,
      [outcome('a', 0, { price: '0.7', price_at: at }), outcome('b', 1, { price: '0.3', price_at: new Date(at.getTime() + 1) })],
      [],
      at,
      false,
    ),
  ).toEqual([0.7, null]);
  expect(prices(open, [outcome('a', 0), outcome('b', 1)], [fill('a', null, '0.4')], at, true)).toEqual([0.4, 0.6]);
  // What the other one leaves was known at the instant, the own first fill was not.
  expect(prices(open, [outcome('a', 0), outcome('b', 1)], [fill('a', '0.55', '0.5'), fill('b', null, '0.38')], at, true)).toEqual([
    0.55, 0.45,
  ]);
  const resolved = { resolved_at: at } as never;
  expect(prices(resolved, [outcome('a', 0, { payout: '1' }), outcome('b', 1, { payout: '0' })], [fill('a', '0.62')], at, false)).toEqual([
    1, 0,
  ]);
  expect(
    prices(
      resolved,
      [outcome('a', 0, { payout: '1' }), outcome('b', 1, { payout: '0' })],
      [fill('a', '0.62')],
      new Date(at.getTime() - 1),
      false,
    ),
  ).toEqual([0.62, 0.38]);
});

test('words for scores and flows stand where the definitions put them', () => {
  expect([-0.51, -0.5, -0.16, -0.15, 0, 0.149, 0.15, 0.49, 0.5].map(labelOf)).toEqual(['very_bearish', 'bearish', 'bearish', 'neutral', 'neutral', 'neutral', 'bullish', 'bullish', 'very_bullish']); // prettier-ignore
  expect([phaseOf('0', '0'), phaseOf('57.5', '42.5'), phaseOf('57.4', '42.6'), phaseOf('42.5', '57.5'), phaseOf('1', '0')]).toEqual([
    'neutral',
    'accumulation',
    'neutral',
    'distribution',
    'accumulation',
  ]);
  expect(momentumOf([0, 0, null, 0.5, 0.5, 1])).toEqual({ direction: 'rising', strength: 0.375, change: 0.75 });
  expect(momentumOf([null, null, 1])).toEqual({ direction: null, strength: null, change: null });
  expect(momentumOf([0.04, 0, 0])).toEqual({ direction: 'flat', strength: 0.02, change: -0.04 });
});

test('what is at a bound by its decimals is there, whatever binary fractions make of it', () => {
  // A net of 4.02 of 26.8; 5 % more than 1.4.
  expect((15.41 - 11.39) / 26.8).toBeLessThan(0.15);
  expect([phaseOf('15.41', '11.39'), phaseOf('11.39', '15.41'), phaseOf('15.40', '11.39')]).toEqual(['accumulation', 'distribution', 'neutral']); // prettier-ignore
  expect(changePercent('1.47', '1.4')).toBeGreaterThan(5);
  expect([trendOf('1.47', '1.4'), trendOf('1.33', '1.4'), trendOf('1.470001', '1.4'), trendOf('1', '0')]).toEqual(['flat', 'flat', 'rising', 'rising']); // prettier-ignore
});

test('a signal is as strong as its score is told, in tenths', () => {
  expect([9.94, 9.95, 39.94, 39.96, 64.96, 100].map(strengthOf)).toEqual([null, 'weak', 'weak', 'moderate', 'strong', 'strong']);
  expect([49.94, 49.96].map((score) => reaches(score, 'moderate'))).toEqual([false, true]);
});

test('the order of scores does not decide their mean', () => {
  // As binary fractions these add up to a little less than 366.6.
  expect(meanScore([90.7, 96.3, 98.4, 81.2])).toBe(91.65);
  expect(meanScore([])).toBeNull();
});
