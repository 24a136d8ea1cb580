import type { Pool } from 'pg';
import { addCount } from '../../../lib/grouped';
import { readUntil } from '../../../workers/feed-store';
import { pageOf } from '../../../workers/pages';
import type { LiveContext, LiveSource } from '../../../workers/source';
import { type Failing, askPatiently } from '../../../workers/turns';
import type { Upstream, UpstreamError } from '../../../workers/upstream';
import { dataApiActivity } from './data-api';
import { type Ask, type Slice, readSpan } from './live-span';
import { unixSecond } from './live-trades';

/** What changes shares without a trade; trades come from `/trades`. */
const TYPES = 'REDEEM,SPLIT,MERGE,CONVERSION';
/** Rows may be listed this late. */
const OVERLAP_S = 600;
/** Before the venue opened. */
const BEGINNING_S = 1_577_836_800;
/** Sets are split just before a fill and merged soon after one. */
const TRADED_S = 60;
/** Most winnings are redeemed within so long. */
const RESOLVED_S = 86_400;
/** Wallets that are asked at once. */
const AT_ONCE = 8;
/** Rows of one wallet that a poll reads: machines have hundreds of thousands, which no memory and no transaction should hold at once. */
const MOST_ROWS = 5_000;

interface ActivityCursor {
  /** Wallets up to this one were asked in this lap. */
  after: string;
  /** Unix second of the last whole lap: what every wallet did before is in. */
  since: number;
  /** Unix second of this lap: when it began, or up to where wallets were known by then. */
  lap: number;
  /** Wallets that could not be told of, or not of all, and from which Unix second on they are asked next. */
  owed: Readonly<Record<string, number>>;
  /** Where the laps stand of those who are likely to act now; '' at their beginning. */
  eager: readonly string[];
  /** At which wallets the last polls failed. */
  failing?: Failing;
}

/** A wallet whose activity is worth asking for, and from when on. */
interface Asked {
  wallet: string;
  from: number;
}

/** What a wallet did, and the Unix second from which on more is to be read; null: that is all. */
interface Reading {
  slices: Slice[];
  rest: number | null;
}

interface NextWallet {
  wallet: string;
  is_new: boolean;
  /** Unix second of its last row before the lap. */
  seen: number | null;
}

// Who holds shares or traded since the last lap may move them; who was first seen in it is asked from the beginning, who is owed an answer in any case.
// Who held nothing and did not trade was passed over: it may have split sets since its last row.
const NEXT_WALLETS = `SELECT wallet, first_seen_at >= to_timestamp($2) AS is_new,
  (SELECT extract(epoch FROM max(trade."timestamp"))::float8 FROM pm_trade AS trade WHERE trade.wallet = pm_wallet.wallet AND trade."timestamp" < to_timestamp($2)) AS seen
FROM pm_wallet WHERE wallet > $1
  AND (first_seen_at >= to_timestamp($2) OR wallet = ANY($4) OR EXISTS (SELECT 1 FROM pm_position AS position WHERE position.wallet = pm_wallet.wallet AND position.shares > position.redeemed_shares)
    OR EXISTS (SELECT 1 FROM pm_trade AS trade WHERE trade.wallet = pm_wallet.wallet AND trade."timestamp" >= to_timestamp($2)))
ORDER BY wallet LIMIT $3`;

/** A lap of its own: the text asks for the next `$2` wallets behind `$1`, of what happened since second `$3`. */
interface EagerLap {
  since_s: number;
  text: string;
}

// Who is likely to act now: who traded just now, and, market by market, who may redeem what has just been resolved.
const EAGER: readonly EagerLap[] = [
  {
    since_s: TRADED_S,
    text: `SELECT DISTINCT wallet, wallet AS place FROM pm_trade WHERE "timestamp" >= to_timestamp($3) AND wallet > $1 ORDER BY wallet LIMIT $2`,
  },
  {
    since_s: RESOLVED_S,
    text: `SELECT wallet, condition_id || ' ' || wallet AS place FROM (SELECT condition_id FROM pm_market
  WHERE resolved_at >= to_timestamp($3) AND condition_id >= split_part($1, ' ', 1) ORDER BY condition_id) AS market
CROSS JOIN LATERAL (SELECT wallet FROM pm_position AS position WHERE position.condition_id = market.condition_id AND payout > 0 AND shares > redeemed_shares
  AND (position.condition_id, wallet) > (split_part($1, ' ', 1), split_part($1, ' ', 2)) ORDER BY wallet) AS winner
ORDER BY condition_id, wallet LIMIT $2`,
  },
];

/** Each lap may ask for half of what those before it left, so that everybody has a turn; and where the laps stand then. */
async function eagerWallets(
  db: Pool,
  { eager }: ActivityCursor,
  to: number,
  a_poll: number,
): Promise<{ wallets: Set<string>; eager: string[] }> {
  const wallets = new Set<string>();
  const reached: string[] = [];
  for (const [lap, { since_s, text }] of EAGER.entries()) {
    const count = Math.floor((a_poll - wallets.size) / 2);
    const { rows } = await db.query<{ wallet: string; place: string }>(text, [eager[lap] ?? '', count, to - since_s]);
    for (const { wallet } of rows) wallets.add(wallet);
    reached.push(rows.length < count ? '' : (rows.at(-1)?.place ?? ''));
  }
  return { wallets, eager: reached };
}

async function nextWallets(db: Pool, { after, since, owed }: ActivityCursor, count: number): Promise<Asked[]> {
  const usual = since - OVERLAP_S;
  const { rows } = await db.query<NextWallet>(NEXT_WALLETS, [after, usual, count, Object.keys(owed)]);
  return rows.map(({ wallet, is_new, seen }) => ({
    wallet,
    from: owed[wallet] ?? (is_new ? BEGINNING_S : Math.min(usual, Math.floor(seen ?? since) - OVERLAP_S)),
  }));
}

/**
 * Redemptions, splits, merges and conversions: the upstream tells them one wallet at a time, so wallets are asked in laps, `a_poll` of
 * them a poll; who is likely to act now is asked in short ones beside. Its watermark is the beginning of the last whole lap; it gates nothing.
 * A wallet that cannot be told of while others are is counted, and asked for all of it in the next lap; one that did very much is asked by poll after
 * poll until all of it is in.
 */
export function liveActivity(data: Upstream, poll_ms: number, a_poll: number): LiveSource {
  return {
    name: 'prediction.activity',
    continues: 'prediction.activity',
    gates: false,
    poll_ms,
    // Where a recording of wallets' histories ended tells of none but theirs: the first lap asks everybody from the beginning.
    begin: () => ({ after: '', since: BEGINNING_S, lap: BEGINNING_S, owed: {}, eager: [] }) satisfies ActivityCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, context) {
      const known: ActivityCursor = { owed: {}, eager: [], ...(cursor as unknown as Omit<ActivityCursor, 'owed' | 'eager'>) };
      const lap = known.after === '' ? await lapOf(known, to, context) : known.lap;
      const { wallets: first, eager } = await eagerWallets(context.db, known, unixSecond(to), a_poll);
      const count = a_poll - first.size;
      const wallets = await nextWallets(context.db, known, count);
      // Two answers of one wallet must not stand on one page.
      for (const { wallet } of wallets) first.delete(wallet);
      const { rows, skipped, owed, broken, failing, failure } = await ask(data, { first, wallets }, unixSecond(to) + 1, known, context);
      if (failure !== null) {
        yield { pages: [], cursor: { ...known, failing } satisfies ActivityCursor, watermark: null };
        throw failure;
      }
      const name = `activity-${known.after}-${unixSecond(to)}.json`;
      const asked = wallets.slice(0, broken);
      const done = asked.length === wallets.length && wallets.length < count;
      const at = done ? { after: '', since: lap } : { after: asked.at(-1)?.wallet ?? known.after, since: known.since };
      yield {
        pages: rows.length === 0 ? [] : [{ source: dataApiActivity, page: pageOf(name, 'json', rows) }],
        cursor: { ...at, lap, owed, eager } satisfies ActivityCursor,
        watermark: done ? new Date(lap * 1_000) : null,
        skipped,
      };
    },
  };
}

// Wallets are known from fills: while those are behind, some that act already will turn up only later.
async function lapOf({ since }: ActivityCursor, to: Date, { db }: LiveContext): Promise<number> {
  const known = await readUntil(db, ['prediction.trades', 'prediction.fills']);
  return known === null ? since : Math.max(since, Math.min(unixSecond(to), unixSecond(known)));
}

/** What these wallets did, up to a second. Rows of different wallets are never equal, so all stand on one page. */
async function ask(
  data: Upstream,
  { first, wallets }: { first: ReadonlySet<string>; wallets: readonly Asked[] },
  end: number,
  { since, owed: owing, failing: failed = {} }: ActivityCursor,
  { signal }: LiveContext,
): Promise<{
  rows: unknown[];
  skipped: Record<string, number>;
  owed: ActivityCursor['owed'];
  /** Place of the first wallet of which there is more; undefined: of none. */
  broken: number | undefined;
  failing: Failing;
  failure: UpstreamError | null;
}> {
  const read = async ({ wallet, from }: Asked): Promise<Reading> => {
    const listing: Ask = (window) =>
      data.get('/activity', { user: wallet, type: TYPES, sortBy: 'TIMESTAMP', sortDirection: 'DESC', ...window }, signal);
    const slices: Slice[] = [];
    let count = 0;
    for await (const slice of readSpan(listing, from, end, Number.POSITIVE_INFINITY)) {
      slices.push(slice);
      count += slice.rows.length;
      if (count >= MOST_ROWS && slice.to < end) return { slices, rest: slice.to };
    }
    return { slices, rest: null };
  };
  const eager = [...first].map((wallet): Asked => ({ wallet, from: Math.max(since, end - RESOLVED_S) - OVERLAP_S }));
  const asked = [...eager, ...wallets];
  const patience = { failing: failed, again: true };
  const { told, skipped, failing, failure } = await askPatiently('wallet', asked, ({ wallet }) => wallet, ahead(asked, read), patience);
  const slices = told.flatMap(({ answer }) => answer.slices);
  for (const [reason, count] of slices.flatMap((slice) => Object.entries(slice.skipped))) addCount(skipped, reason, count);
  // Whose turn in the long lap is still to come is owed nothing by a short one.
  const owed = { ...owing, ...Object.fromEntries(wallets.map(({ wallet, from }) => [wallet, from])) };
  const rests = new Map(told.filter(({ one }) => !first.has(one.wallet)).map(({ one, answer }) => [one.wallet, answer.rest]));
  for (const [wallet, rest] of rests) {
    if (rest === null) delete owed[wallet];
    else owed[wallet] = rest;
  }
  const broken = wallets.findIndex(({ wallet }) => typeof rests.get(wallet) === 'number');
  return { rows: slices.flatMap(({ rows }) => rows), skipped, owed, broken: broken < 0 ? undefined : broken, failing, failure };
}

/** Asks for `AT_ONCE` of them at once, in their order; whoever's turn comes is waited for. */
function ahead<One, Answer>(all: readonly One[], ask: (one: One) => Promise<Answer>): (one: One) => Promise<Answer> {
  const begun = new Map<One, Promise<Answer>>();
  let next = 0;
  return (one) => {
    for (const end = Math.min(all.length, all.indexOf(one) + AT_ONCE); next < end; next += 1) {
      const answer = ask(all[next] as One);
      // Of a failure is heard when its turn comes; until then it must not count as unhandled.
      answer.catch(() => undefined);
      begun.set(all[next] as One, answer);
    }
    return begun.get(one) ?? ask(one);
  };
}
