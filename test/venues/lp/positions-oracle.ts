import type { Pool } from 'pg';
import { type FactEvent, grouped, total, type WorldFacts } from './oracle';

/** A position as its facts before an instant tell it, counted in plain TypeScript. */
export interface CountedPosition {
  pool: string;
  position: string;
  type: string;
  owner: string | null;
  events: FactEvent[];
  deposited: bigint;
  withdrawn: bigint;
  claimed: bigint;
  deposited_x: bigint;
  deposited_y: bigint;
  withdrawn_x: bigint;
  withdrawn_y: bigint;
  opened: number | null;
  closed: number | null;
  /** Null while open, and where a part is not known. */
  pnl: bigint | null;
}

export interface Life {
  owner: string | null;
  opened: number | null;
  closed: number | null;
}

export async function livesOf(db: Pool): Promise<Map<string, Life>> {
  const { rows } = await db.query<{ position_address: string; owner: string | null; opened_at: Date | null; closed_at: Date | null }>(
    'SELECT * FROM lp_position',
  );
  return new Map(
    rows.map((row) => [
      row.position_address,
      { owner: row.owner, opened: row.opened_at?.getTime() ?? null, closed: row.closed_at?.getTime() ?? null },
    ]),
  );
}

const before = (time: number | null, now: number): number | null => (time !== null && time < now ? time : null);

export function positionsAt(facts: WorldFacts, lives: Map<string, Life>, now: number): CountedPosition[] {
  const events = facts.events.filter((event) => event.position !== '' && event.at < now);
  return [...grouped(events, (event) => `${event.pool}/${event.position}`).values()].map((own) => counted(own, lives, now));
}

/** By time and place on the chain, what nobody placed last; of one place a deposit last. */
function inPlace(a: FactEvent, b: FactEvent): number {
  const [slots, ...steps] = a.place.map((at, i) => (at ?? Infinity) - (b.place[i] ?? Infinity)).map((by) => by || 0);
  const txs = a.tx === b.tx ? 0 : a.tx < b.tx ? -1 : 1;
  return a.at - b.at || slots || txs || steps.find((by) => by !== 0) || Number(a.kind === 'deposit') - Number(b.kind === 'deposit');
}

function counted(own: FactEvent[], lives: Map<string, Life>, now: number): CountedPosition {
  const sorted = [...own].sort((a, b) => a.at - b.at || (a.tx < b.tx ? -1 : 1));
  const [first] = sorted as [FactEvent];
  const life = lives.get(first.position);
  const flow = (pick: (event: FactEvent) => bigint | null, into: boolean): bigint => {
    const side = (rows: FactEvent[], kind: string): bigint => total(rows.filter((event) => event.kind === kind).map(pick));
    const plain = sorted.filter((event) => !event.rebalance);
    const nets = [
      ...grouped(
        sorted.filter((event) => event.rebalance),
        (event) => event.tx,
      ).values(),
    ].map((rows) => side(rows, 'deposit') - side(rows, 'withdraw'));
    const netted = nets.map((net) => (into ? net : -net)).filter((net) => net > 0n);
    return side(plain, into ? 'deposit' : 'withdraw') + total(netted);
  };
  const sums = {
    deposited: flow((event) => event.usd, true),
    withdrawn: flow((event) => event.usd, false),
    deposited_x: flow((event) => event.x, true),
    deposited_y: flow((event) => event.y, true),
    withdrawn_x: flow((event) => event.x, false),
    withdrawn_y: flow((event) => event.y, false),
    claimed: total(sorted.filter((event) => event.kind === 'claim').map((event) => event.usd)),
  };
  const moves = sorted.filter((event) => event.kind !== 'claim');
  const lastWithdrawal = moves.filter((event) => event.kind === 'withdraw').at(-1)?.at ?? null;
  const lastDeposit = moves.filter((event) => event.kind === 'deposit').at(-1)?.at ?? null;
  const measured = moves.every((event) => event.liquidity !== null);
  const emptied = measured
    ? total(moves.map((event) => event.liquidity)) <= 0n
    : moves.some((event) => event.kind === 'deposit') &&
      moves.every((event) => event.x !== null && event.y !== null) &&
      sums.withdrawn_x >= sums.deposited_x &&
      sums.withdrawn_y >= sums.deposited_y;
  const firstDeposit = sorted.find((event) => event.kind === 'deposit')?.at ?? null;
  const told = life?.opened ?? null;
  const begun = [...own].sort(inPlace)[0]?.kind === 'deposit' && !(measured && total(moves.map((event) => event.liquidity)) < 0n);
  const opened = told !== null && told <= first.at ? told : begun ? first.at : null;
  const closed =
    before(life?.closed ?? null, now) ??
    (lastWithdrawal !== null && emptied && !(lastDeposit !== null && lastDeposit > lastWithdrawal) ? lastWithdrawal : null);
  const known = closed !== null && opened !== null && firstDeposit !== null && sorted.every((event) => event.usd !== null);
  return {
    pool: first.pool,
    position: first.position,
    type: first.type,
    owner: life?.owner ?? sorted.filter((event) => event.owner !== null).at(-1)?.owner ?? null,
    events: sorted,
    ...sums,
    opened,
    closed,
    pnl: known ? sums.withdrawn + sums.claimed - sums.deposited : null,
  };
}
