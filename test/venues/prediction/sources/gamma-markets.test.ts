import crypto from 'node:crypto';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { NOW, iso, market, now, trade } from '../small-world';
import { condition, loadRecords, token, wallet } from '../support';

const DAY = 86_400;

describe('loading the catalogue', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  beforeEach(async () => {
    db = await testDatabase();
  });
  afterEach(() => db.drop());

  const load = async (...records: unknown[]): Promise<unknown> => (await loadRecords(db.pool, 'markets.json', records)).report;
  const stored = async (n: number): Promise<Record<string, unknown>> =>
    (await db.pool.query<Record<string, unknown>>('SELECT * FROM pm_market WHERE condition_id = $1', [condition(n)])).rows[0] ?? {};
  const tokens = async (n: number): Promise<unknown[]> =>
    (
      await db.pool.query(
        'SELECT token_id, outcome_index, outcome, price::text, payout::text FROM pm_outcome WHERE condition_id = $1 ORDER BY outcome_index',
        [condition(n)],
      )
    ).rows;

  test('what no database keeps does not stop the page', async () => {
    const odd = {
      question: 'Will \0it \ud800?',
      slug: 'odd\0',
      tags: ['n\0ba'],
      outcomes: '["Y\\u0000es", "No"]',
      volume: '1e400',
      outcomePrices: '["1e300", "0"]',
    };
    expect(await load(market(1, odd), market(3))).toMatchObject({ inserted: 2 });
    expect(await stored(1)).toMatchObject({
      question: 'Will it \ufffd?',
      slug: 'odd',
      tags: ['nba'],
      outcomes: ['Yes', 'No'],
      upstream_volume: null,
    });
    expect(await tokens(1)).toMatchObject([{ price: null }, { price: null }]);
  });

  test('texts longer than any index takes, prices of more digits than any number, and objects in the place of texts stop it no more', async () => {
    const text = crypto.randomBytes(20_000).toString('hex');
    const long = { events: [{ slug: text }], negRiskMarketID: text, tags: [text], volume: `1.${'3'.repeat(20_000)}` };
    const foreign = { toString: 1, valueOf: 1 };
    expect(
      await load(market(1, long), market(2, { conditionId: foreign }), market(3, { outcomes: ['Yes', foreign] }), market(4)),
    ).toMatchObject({
      inserted: 3,
      skipped: { bad_condition_id: 1 },
    });
    expect(await stored(1)).toMatchObject({ event_slug: text.slice(0, 500), upstream_volume: null });
    expect(await stored(3)).toMatchObject({ outcomes: ['Yes', ''] });
  });

  test('a market that lists one token twice has no tokens that can be told apart', async () => {
    expect(await load(market(1, { clobTokenIds: ['7', '7'] }), market(2))).toMatchObject({ inserted: 2 });
    expect(await tokens(1)).toEqual([]);
  });

  test('a market in full', async () => {
    await load(
      market(2, {
        tags: [{ slug: 'nba' }, 'games'],
        negRisk: true,
        negRiskMarketID: '0xabc',
        volume: '8523.847562',
        liquidityNum: 12.5,
        outcomePrices: '["0.25", "0.75"]',
      }),
    );
    expect(await stored(2)).toEqual({
      condition_id: condition(2),
      question: 'Question 2?',
      slug: 'question-2',
      event_slug: 'event-2',
      category: 'Sports',
      tags: ['nba', 'games'],
      outcomes: ['Red Foxes', 'Blue Owls'],
      neg_risk: true,
      neg_risk_id: '0xabc',
      end_date: new Date((NOW + 30 * DAY) * 1_000),
      created_at: new Date((NOW - 20 * DAY) * 1_000),
      closed_at: null,
      resolved_at: null,
      winning_outcome: null,
      is_voided: false,
      upstream_volume: '8523.847562',
      upstream_liquidity: '12.5',
      updated_at: new Date((NOW - 10 * DAY) * 1_000),
      is_stub: false,
    });
    expect(await tokens(2)).toEqual([
      { token_id: token(2, 0), outcome_index: 0, outcome: 'Red Foxes', price: '0.25', payout: null },
      { token_id: token(2, 1), outcome_index: 1, outcome: 'Blue Owls', price: '0.75', payout: null },
    ]);
  });

  test('lists may be lists or JSON text; markets may stand in pages and events, whose tags they share', async () => {
    const page = {
      markets: [market(1, { outcomes: ['Yes', 'No'], clobTokenIds: [token(1, 0), token(1, 1)], outcomePrices: [0.4, 0.6] })],
      next_cursor: 'x',
    };
    expect(await load(page)).toEqual({ read: 1, inserted: 1, duplicates: 0, skipped: {} });
    expect(await tokens(1)).toMatchObject([{ price: '0.4' }, { price: '0.6' }]);
    const event = {
      id: '9',
      slug: 'the-event',
      tags: [{ slug: 'counter-strike' }, { slug: 'sports' }],
      markets: [market(2, { events: undefined }), market(3, { events: undefined })],
    };
    expect(await load({ events: [event] })).toEqual({ read: 2, inserted: 2, duplicates: 0, skipped: {} });
    expect(await stored(3)).toMatchObject({ event_slug: 'the-event', category: 'Esports', tags: ['counter-strike', 'sports'] });
  });

  test('what cannot be used is skipped, and says why', async () => {
    expect(
      await load(market(1, { conditionId: '' }), market(2, { outcomes: '[]' }), market(3, { outcomes: 'nonsense' }), 5, market(4)),
    ).toEqual({
      read: 5,
      inserted: 1,
      duplicates: 0,
      skipped: { bad_condition_id: 1, no_outcomes: 2, not_an_object: 1 },
    });
  });

  test('a newer description replaces an older one, never the other way round', async () => {
    const old = market(1, { question: 'Old?' });
    const closed = market(1, {
      question: 'New?',
      updatedAt: iso(NOW),
      closed: true,
      outcomePrices: '["1", "0"]',
      closedTime: '2026-03-10 11:00:00+00',
    });
    expect(await load(old)).toMatchObject({ inserted: 1, duplicates: 0 });
    expect(await load(old)).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await load(closed)).toMatchObject({ inserted: 1, duplicates: 0 });
    expect(await load(old)).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await stored(1)).toMatchObject({
      question: 'New?',
      winning_outcome: 'Yes',
      resolved_at: new Date('2026-03-10T11:00:00Z'),
      closed_at: new Date('2026-03-10T11:00:00Z'),
    });
    expect(await tokens(1)).toMatchObject([{ payout: '1' }, { payout: '0' }]);
    // Two versions on one page: the newer counts.
    expect(await load(market(2, { question: 'B?', updatedAt: iso(NOW) }), market(2, { question: 'A?' }))).toMatchObject({
      inserted: 1,
      duplicates: 1,
    });
    expect(await stored(2)).toMatchObject({ question: 'B?' });
  });

  test('without a time of update the result still comes through', async () => {
    await load(market(1, { updatedAt: undefined }));
    expect(await load(market(1, { updatedAt: undefined }))).toMatchObject({ inserted: 0, duplicates: 1 });
    expect(await load(market(1, { updatedAt: undefined, closed: true, outcomePrices: '["0", "1"]', closedTime: iso(NOW) }))).toMatchObject({
      inserted: 1,
    });
    expect(await stored(1)).toMatchObject({ winning_outcome: 'No' });
  });

  test('tags survive a listing without them, and with them the category', async () => {
    await load(market(1, { slug: 'will-it-rain', tags: [{ slug: 'politics' }] }));
    await load(market(1, { slug: 'will-it-rain', tags: undefined, updatedAt: iso(NOW), question: 'Newer?' }));
    expect(await stored(1)).toMatchObject({ question: 'Newer?', tags: ['politics'], category: 'Politics' });
  });

  test('nor does it matter whether they came first, on the same page, or with a time of update of their own', async () => {
    const tagged = { slug: 'will-it-rain', tags: [{ slug: 'politics' }], events: [{ slug: 'rain' }], outcomePrices: '["0.2", "0.8"]' };
    const bare = { slug: 'will-it-rain', tags: undefined, events: undefined, question: 'Newer?' };
    const older = (n: number): unknown => market(n, tagged);
    const [newer, same] = [(n: number): unknown => market(n, { ...bare, updatedAt: iso(NOW) }), (n: number): unknown => market(n, bare)];
    expect(await load(newer(1))).toMatchObject({ inserted: 1 });
    expect(await load(older(1))).toMatchObject({ inserted: 1 });
    expect(await load(older(1), newer(1))).toMatchObject({ inserted: 0 });
    await load(older(2), newer(2));
    await load(newer(3), older(3));
    await load(older(4));
    await load(newer(4));
    await load(same(5));
    await load(older(5));
    for (const n of [1, 2, 3, 4])
      expect(await stored(n)).toMatchObject({ question: 'Newer?', tags: ['politics'], category: 'Politics', event_slug: 'rain' });
    expect(await stored(5)).toMatchObject({ question: 'Newer?', tags: ['politics'], category: 'Politics', event_slug: 'rain' });
    // What it costs is still what the newer one says.
    expect(await tokens(1)).toEqual((await tokens(4)).map((one, index) => ({ ...(one as object), token_id: token(1, index) })));
  });

  test('a record wrapped in thousands of lists stops nothing', async () => {
    const deep = JSON.parse(`${'{"markets":['.repeat(9_000)}${']}'.repeat(9_000)}`) as unknown;
    expect(await load(market(1), deep, market(2))).toMatchObject({ read: 3, inserted: 2, skipped: { bad_condition_id: 1 } });
  });

  test('refunds, unknown results and markets without tokens', async () => {
    const closed = { closed: true, closedTime: iso(NOW), enableOrderBook: undefined, marketMakerAddress: wallet(99) };
    await load(
      market(1, { ...closed, outcomePrices: '["0.5", "0.5"]' }),
      market(2, { ...closed, outcomePrices: '["0", "0"]' }),
      market(3, { ...closed, outcomePrices: '["0.99999", "0.00001"]', clobTokenIds: null }),
      market(4, { ...closed, closedTime: undefined, umaEndDate: iso(NOW - 60), outcomePrices: undefined }),
    );
    expect(await stored(1)).toMatchObject({ is_voided: true, winning_outcome: null, resolved_at: new Date(NOW * 1_000) });
    expect(await tokens(1)).toMatchObject([{ payout: '0.5' }, { payout: '0.5' }]);
    expect(await stored(2)).toMatchObject({ is_voided: false, winning_outcome: null, resolved_at: null, closed_at: new Date(NOW * 1_000) });
    expect(await stored(3)).toMatchObject({ winning_outcome: 'Yes', outcomes: ['Yes', 'No'] });
    expect(await tokens(3)).toEqual([]);
    expect(await stored(4)).toMatchObject({ resolved_at: null, closed_at: new Date((NOW - 60) * 1_000) });
  });

  test('a record that tells when it closed, and nothing of whether it did, is closed', async () => {
    const told = { closed: undefined, enableOrderBook: undefined, updatedAt: undefined, closedTime: iso(NOW - 60) };
    await load(
      market(1, { ...told, outcomePrices: '["0", "1"]' }),
      market(2, { ...told, outcomePrices: null }),
      market(3, { ...told, closed: false }),
    );
    expect(await stored(1)).toMatchObject({ winning_outcome: 'No', resolved_at: new Date((NOW - 60) * 1_000) });
    expect(await stored(2)).toMatchObject({ resolved_at: null, closed_at: new Date((NOW - 60) * 1_000) });
    expect(await stored(3)).toMatchObject({ resolved_at: null, closed_at: null });
  });

  test.each(['open first', 'result first', 'on one page'])(
    'a record that tells little but the result leaves the rest as it is, and is from when it closed: %s',
    async (order) => {
      const { slug, negRisk, negRiskMarketID, clobTokenIds, updatedAt, closed, events, ...least } = market(1, { negRiskMarketID: '0xabc', closedTime: iso(NOW - 60), outcomePrices: '["0", "1"]' }); // prettier-ignore
      expect([slug, negRisk, clobTokenIds, updatedAt, closed, events]).toHaveLength(6);
      const open = market(1, { negRisk: true, negRiskMarketID });
      if (order === 'on one page') await load(open, least);
      else for (const record of order === 'open first' ? [open, least, open] : [least, open, least]) await load(record);
      expect(await stored(1)).toMatchObject({
        slug: 'question-1',
        event_slug: 'event-1',
        neg_risk: true,
        neg_risk_id: '0xabc',
        winning_outcome: 'No',
      });
      if (order !== 'on one page')
        expect(await tokens(1)).toMatchObject([
          { outcome: 'Yes', payout: '0' },
          { outcome: 'No', payout: '1' },
        ]);
      for (const record of [open, least]) expect(await load(record)).toMatchObject({ inserted: 0 });
      const full = {
        closed: true,
        closedTime: iso(NOW - 60),
        outcomePrices: '["1", "0"]',
        umaResolutionStatus: 'resolved',
        updatedAt: iso(NOW),
      };
      expect(await load(market(1, full))).toMatchObject({ inserted: 1 });
      expect(await stored(1)).toMatchObject({ winning_outcome: 'Yes' });
    },
  );

  test('blanks around the name of an outcome, which some teams have, are no part of it: of trades they never were', async () => {
    const outcomes = JSON.stringify([' Team Lynx', 'Team Owl ']);
    await load(market(1, { outcomes, clobTokenIds: null, closed: true, closedTime: iso(NOW - 60), outcomePrices: '["1", "0"]' }), market(2, { outcomes })); // prettier-ignore
    await load({ ...trade(1, 1, 0, 1, 'BUY', 100, 0.1, DAY), outcome: ' Team Lynx' });
    expect(await stored(1)).toMatchObject({ outcomes: ['Team Lynx', 'Team Owl'], winning_outcome: 'Team Lynx' });
    expect(await tokens(1)).toMatchObject([{ outcome: 'Team Lynx', payout: '1' }]);
    expect(await tokens(2)).toMatchObject([{ outcome: 'Team Lynx' }, { outcome: 'Team Owl' }]);
  });

  test('a market that closed at half and half before its result is known shows its last quotes, and is no refund', async () => {
    const closed = { closed: true, closedTime: iso(NOW), outcomePrices: '["0.5", "0.5"]' };
    await load(market(1, { ...closed, umaResolutionStatus: 'proposed' }), market(2, { ...closed, enableOrderBook: undefined }));
    for (const n of [1, 2])
      expect(await stored(n)).toMatchObject({ is_voided: false, resolved_at: null, closed_at: new Date(NOW * 1_000) });
    expect(await load(market(1, { ...closed, umaResolutionStatus: 'resolved', updatedAt: iso(NOW) }))).toMatchObject({ inserted: 1 });
    expect(await stored(1)).toMatchObject({ is_voided: true, resolved_at: new Date(NOW * 1_000) });
  });

  test.each(['before', 'after'])('a token told by trades alone pays by its name, whether they come %s the result', async (when) => {
    const closed = { closed: true, closedTime: iso(NOW - 60), clobTokenIds: null, umaResolutionStatus: 'resolved' };
    const trades = [
      trade(1, 3, 0, 1, 'BUY', 100, 0.1, DAY),
      trade(2, 3, 1, 2, 'BUY', 100, 0.8, DAY),
      trade(3, 4, 0, 1, 'BUY', 100, 0.1, DAY),
    ];
    const named = trades.map((row) => ({ ...row, outcome: row.outcomeIndex === 0 ? 'Yes' : 'No' }));
    const markets = [market(3, { ...closed, outcomePrices: '["0", "1"]' }), market(4, { ...closed, outcomePrices: '["0.5", "0.5"]' })];
    for (const page of when === 'before' ? [named, markets] : [markets, named]) await load(...page);
    expect(await tokens(3)).toMatchObject([{ payout: '0' }, { payout: '1' }]);
    expect(await tokens(4)).toMatchObject([{ payout: '0.500000' }]);
    const { data } = await ask<{ outcomes: Record<string, unknown>[] }>(db, 'markets/ownership', now, {
      condition_id: condition(3),
      limit: 20,
      min_shares: 1,
    });
    expect(data.outcomes).toMatchObject([
      { price: 0, total_value_usdc: 0 },
      { price: 1, total_value_usdc: 100 },
    ]);
  });
});
