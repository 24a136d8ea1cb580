import type { Pool, PoolClient } from 'pg';
import { analyzeIndexed } from '../../../db/indexes';
import { LONG_WORK, inTransaction } from '../../../db/transaction';
import { isoDay } from '../../../lib/time';
import { windowOf } from '../../../lib/timeframe';
import { spanOf } from '../queries/span';
import { lockRollups } from '../rollups/rebuild';
import { tellSmart } from '../rollups/smart-hours';
import { tellStandings } from '../rollups/standings';
import { tellTimings } from '../rollups/timings';
import { LIVES, type LifeRow } from './behaviour';
import { tagCopiers } from './copiers';
import { type PerpScore, S_PERP, scoreTrader } from './formula';
import { listSelfTrades } from './self-trades';
import { tagsOf } from './tags';

/** Accounts looked at together. */
const CHUNK = 2_000;
/** Of what one step sorts or groups so much stays in memory; the rest goes through files. */
const LONG = `${LONG_WORK}; SET LOCAL work_mem = '128MB'`;

interface Scored {
  life: LifeRow;
  score: PerpScore;
  tags: string[];
}

/**
 * Scores every account that traded before `now`, for the UTC day of `now`, in one transaction: readers see the whole run or none.
 * Again on the same day: the same rows, as of the new instant.
 */
export async function score(pool: Pool, now: Date, progress: (wallets: number) => void): Promise<{ wallets: number; scored: number }> {
  const scored = await inTransaction(
    pool,
    async (client) => {
      await client.query('DELETE FROM perp_score WHERE day = $1', [isoDay(now)]);
      return scoreAll(client, now, progress);
    },
    // One run at a time: what one tells of a day, the other would tell again.
    `SELECT pg_advisory_xact_lock(hashtext('perps scores')); ${LONG}`,
  );
  // Apart from it: pages wait for this as well.
  await inTransaction(
    pool,
    async (client) => {
      await lockRollups(client);
      await tellTimings(client, now);
    },
    LONG,
  );
  return scored;
}

async function scoreAll(client: PoolClient, now: Date, progress: (wallets: number) => void): Promise<{ wallets: number; scored: number }> {
  const selfTrades = await listSelfTrades(client, now);
  const total = { wallets: 0, scored: 0 };
  for (
    let traders = await nextTraders(client, '', now);
    traders.length > 0;
    traders = await nextTraders(client, traders.at(-1) as string, now)
  ) {
    const lives = await client.query<LifeRow>({ ...LIVES, values: [...spanOf(windowOf('all', now)), traders] });
    const scored = lives.rows.map((life) => scoreLife(life, selfTrades.get(life.trader) ?? 0, now));
    await write(client, now, scored);
    total.wallets += scored.length;
    total.scored += scored.filter((own) => own.score.score !== null).length;
    progress(scored.length);
  }
  // A day of which nobody has counted the rows is planned for as for one.
  await analyzeIndexed(client, ['perp_score']);
  await tagCopiers(client, now, isoDay(now));
  // Last, since pages wait for it.
  await lockRollups(client);
  await tellStandings(client, now);
  await tellSmart(client, isoDay(now));
  return total;
}

async function nextTraders(client: PoolClient, after: string, now: Date): Promise<string[]> {
  const { rows } = await client.query<{ trader: string }>({
    name: 'perps_next_traders',
    text: 'SELECT trader FROM perp_trader WHERE trader > $1 AND first_at < $2 ORDER BY trader LIMIT $3',
    values: [after, now, CHUNK],
  });
  return rows.map(({ trader }) => trader);
}

function scoreLife(life: LifeRow, self_trade_share: number, now: Date): Scored {
  const { fills, closing_trades, winning_trades } = life;
  const sums = { net_pnl: Number(life.net_pnl), largest_coin_day_pnl: Number(life.largest_coin_day_pnl) };
  const score = scoreTrader({ trades: fills, closing_trades, winning_trades, ...sums });
  const behaviour = {
    ...life,
    ...sums,
    score: score.score,
    largest_position_usd: Number(life.largest_position_usd ?? 0),
    top_coin_share: life.top_coin_share === null ? null : Number(life.top_coin_share),
    first_trade_at: life.first_at,
    maker_share: life.maker_share === null ? null : Number(life.maker_share),
    net_volume: Number(life.net_volume),
    gross_volume: Number(life.gross_volume),
    self_trade_share,
    // Whom an account copies is only known when everybody is scored: that tag comes last.
    copy_score: null,
  };
  return { life, score, tags: tagsOf(behaviour, now) };
}

const WRITE = {
  name: 'perps_write_scores',
  text: `
INSERT INTO perp_score (trader, day, score, tags, version, trades, closing_trades, winning_trades, win_rate_lb, net_pnl, caps)
SELECT s.trader, $1::date, s.score, string_to_array(s.tags, ','), $2, s.trades, s.closing_trades, s.winning_trades, s.win_rate_lb, s.net_pnl, string_to_array(s.caps, ',')
FROM unnest($3::text[], $4::numeric[], $5::text[], $6::int[], $7::int[], $8::int[], $9::numeric[], $10::numeric[], $11::text[])
  AS s(trader, score, tags, trades, closing_trades, winning_trades, win_rate_lb, net_pnl, caps)`,
};

async function write(client: PoolClient, now: Date, scored: readonly Scored[]): Promise<void> {
  const column = <T>(of: (own: Scored) => T): T[] => scored.map(of);
  const values = [
    isoDay(now),
    S_PERP.version,
    column(({ life }) => life.trader),
    column(({ score: { score: value } }) => value),
    column(({ tags }) => tags.join(',')),
    column(({ life }) => life.fills),
    column(({ life }) => life.closing_trades),
    column(({ life }) => life.winning_trades),
    column(({ score: { win_rate_lb } }) => win_rate_lb),
    column(({ life }) => life.net_pnl),
    column(({ score: { caps } }) => caps.join(',')),
  ];
  await client.query({ ...WRITE, values });
}
