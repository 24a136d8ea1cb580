import { OPERATOR } from '../../../../src/sandbox/simulator/lp/keys';
import { makeConfig } from '../../../../src/config';
import { testDatabase } from '../../../support/database';
import { ask } from '../ask';
import { exact, over, shown, total } from '../oracle';
import { loadAtOnce } from '../../../support/world';
import { START, simulated } from '../world';

const DAY = 86_400_000;
const NOW = new Date(START.getTime() + 15 * DAY + 12_345_000);

interface Fact {
  timestamp: Date;
  pool_type: string;
  kind: string;
  owner: string | null;
  usd: string | null;
  fee_payer: string | null;
  programs: string[] | null;
}

interface Share {
  total_events: number;
  operator_events: number;
  operator_share_pct: number | null;
  operator_event_share_pct: number | null;
  total_volume_usd: number;
  operator_volume_usd: number;
  unique_operator_lps: number;
}

describe('platform/operator-share on a simulated world', () => {
  let db: Awaited<ReturnType<typeof testDatabase>>;
  let facts: Fact[];

  beforeAll(async () => {
    db = await testDatabase();
    await loadAtOnce(db.pool, 'lp', simulated(9_000, 16).pages);
    facts = (await db.pool.query<Fact>('SELECT * FROM lp_event')).rows;
  });
  afterAll(() => db.drop());

  function shareOf(from: number, to: number, type?: string): Share {
    const known = facts.filter(
      (fact) =>
        fact.timestamp.getTime() >= from &&
        fact.timestamp.getTime() < to &&
        fact.fee_payer !== null &&
        (type === undefined || fact.pool_type === type),
    );
    const own = known.filter((fact) => (fact.programs ?? []).includes(OPERATOR.text));
    const volume = (rows: Fact[]): bigint =>
      total(rows.filter((fact) => fact.kind !== 'claim' && fact.usd !== null).map((fact) => exact(fact.usd as string)));
    const pct = (part: bigint, of: bigint): number | null => {
      const share = over(100n * part, of);
      return share === null ? null : shown(share);
    };
    return {
      total_events: known.length,
      operator_events: own.length,
      operator_share_pct: pct(volume(own), volume(known)),
      operator_event_share_pct: pct(BigInt(own.length), BigInt(known.length)),
      total_volume_usd: shown(volume(known)),
      operator_volume_usd: shown(volume(own)),
      unique_operator_lps: new Set(own.map((fact) => fact.owner)).size,
    };
  }

  it('knows whose accounts count from the configuration', () => {
    const accountsOf = (env: Record<string, string>): string[] => makeConfig(env, '/').operatorAccounts;
    expect(accountsOf({})).toEqual([OPERATOR.text]);
    expect(accountsOf({ LP_OPERATOR_ACCOUNTS: ` ${OPERATOR.text} ,So11111111111111111111111111111111111111112` })).toEqual([
      OPERATOR.text,
      'So11111111111111111111111111111111111111112',
    ]);
    const live = { SOLANA_RPC_URL: 'http://localhost:1', PAY_TO_SOLANA: OPERATOR.text, PAYMENT_SECRET: 'x'.repeat(40) };
    expect(accountsOf(live)).toEqual([]);
    expect(() => accountsOf({ LP_OPERATOR_ACCOUNTS: '0xabc' })).toThrow(
      'LP_OPERATOR_ACCOUNTS must be Solana addresses separated by commas, not "0xabc".',
    );
  });

  it.each(['24h', '7d', 'all'])('of %s is what the facts say', async (timeframe) => {
    const length = { '24h': DAY, '7d': 7 * DAY, all: NOW.getTime() }[timeframe] as number;
    const [from, to] = [NOW.getTime() - length, NOW.getTime()];
    const { data } = await ask<Share & { by_pool_type: Share[]; change_pct: number | null }>(db, 'lp/platform/operator-share', NOW, {
      timeframe,
    });
    const share = shareOf(from, to);
    expect(data).toMatchObject(share);
    expect(data.by_pool_type).toEqual([
      { pool_type: 'dlmm', ...shareOf(from, to, 'dlmm') },
      { pool_type: 'damm_v2', ...shareOf(from, to, 'damm_v2') },
    ]);
    const earlier = timeframe === 'all' ? null : shareOf(from - length, from).operator_share_pct;
    if (earlier === null || earlier === 0) expect(data.change_pct).toBeNull();
    else expect(data.change_pct).toBeCloseTo((100 * ((share.operator_share_pct as number) - earlier)) / earlier, 2);
    expect(share.total_events).toBeGreaterThan(share.operator_events);
    if (timeframe === 'all') expect(share.operator_events).toBeGreaterThan(0);
    const one = await ask<Share>(db, 'lp/platform/operator-share', NOW, { timeframe, pool_type: 'dlmm' });
    expect(one.data).toMatchObject(shareOf(from, to, 'dlmm'));
  });

  it('is not compared with a window that records begin within', async () => {
    const changeAt = async (day: number): Promise<unknown> =>
      (await ask<{ change_pct: number | null }>(db, 'lp/platform/operator-share', new Date(START.getTime() + day * DAY), {})).data
        .change_pct;
    expect([await changeAt(13), await changeAt(15)]).toEqual([null, expect.any(Number)]);
  });

  it('is empty without any event', async () => {
    await expect(ask(db, 'lp/platform/operator-share', new Date('2025-06-01T00:00:00Z'))).rejects.toMatchObject({
      code: 'empty_result',
      context: { suggestion: { timeframe: '30d' } },
    });
  });
});
