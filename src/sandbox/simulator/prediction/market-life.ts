import { type Action, type Scene, planActions } from './actions';
import { Chance } from './chance';
import type { Account, Crowd } from './crowd';
import { type PricePath, makePath } from './price-path';
import { plantedActions } from './planted';
import { DAY, HOUR, type Plan } from './schedule';

/** One row of a wallet's history. Shares in hundredths, price in thousandths of a dollar. */
export interface Event {
  time: number;
  /** Which feed tells it: the takers', or the wallet's own history. */
  feed: 'trades' | 'activity';
  by: Account;
  kind: 'BUY' | 'SELL' | 'REDEEM' | 'SPLIT' | 'MERGE';
  outcome: 0 | 1 | null;
  shares: number;
  price: number;
  /** USDC in hundred-thousandths. */
  usdc: number;
  tx: string;
}

/** A market lived to its end. */
export interface Life {
  plan: Plan;
  path: PricePath;
  /** By time. */
  events: Event[];
  /** USDC taken, in hundred-thousandths. */
  volume: number;
}

type Shares = [number, number];

/** Sets are merged from this many shares of both outcomes. */
const SET = 20_000;
const SMALLEST = 100;
/** No order finds more shares: of 12,065 recorded large buys 29 took more. */
const LARGEST = 20_000_000;

/** What all lives of a world share. */
export interface Setting {
  seed: number;
  start: number;
  crowd: Crowd;
  bets: number;
  attendance: number;
  session: number;
  making: number;
}

/** Lives a market from creation to its last redemption: everybody's plans in order of time, against what they hold. */
export function live(plan: Plan, setting: Setting): Life {
  const chance = new Chance(setting.seed, 'market', plan.id);
  const path = makePath(chance, plan.first_price, (candidate) => fits(candidate, plan));
  const scene: Scene = {
    plan,
    path,
    crowd: setting.crowd,
    chance,
    start: setting.start,
    bets: setting.bets,
    attendance: setting.attendance,
    session: setting.session,
    making: setting.making,
  };
  const actions = planActions(scene);
  const maker = chance.pick(setting.crowd.byRole.set_maker);
  const market = traded(scene, actions, maker);
  const own = { ...scene, chance: new Chance(setting.seed, 'planted', plan.id) };
  const planted = traded(own, plantedActions(own), maker);
  const events = [...market.events, ...planted.events].sort((a, b) => a.time - b.time);
  return { plan, path, events, volume: market.volume + planted.volume };
}

/** The floor after all of it, settled. */
function traded({ plan, path, chance }: Scene, actions: Action[], maker: Account): Floor {
  const floor = new Floor(plan, path, chance, maker);
  const possible = actions.filter((action) => action.time > plan.created && action.time < plan.end);
  for (const action of possible.sort((a, b) => a.time - b.time)) floor.act(action);
  floor.settle();
  return floor;
}

/** Whether a path ends as a group needs it, and leaves an insider something to know. */
function fits(path: PricePath, plan: Plan): boolean {
  if (plan.first_wins !== null && path.first_wins !== plan.first_wins) return false;
  if (!plan.has_insider) return true;
  const late = path.at(1 - (5 * HOUR) / (plan.end - plan.created));
  return (path.first_wins ? late : 1 - late) <= 0.5;
}

/** The trading floor of one market. */
class Floor {
  readonly events: Event[] = [];
  volume = 0;
  private readonly held = new Map<Account, Shares>();

  constructor(
    private readonly plan: Plan,
    private readonly path: PricePath,
    private readonly chance: Chance,
    private readonly maker: Account,
  ) {}

  act(action: Action): void {
    if (action.kind === 'split') return this.split(action);
    const price = this.quote(action);
    const own = this.holdings(action.by);
    const shares =
      action.kind === 'buy'
        ? Math.min(LARGEST, Math.max(SMALLEST, Math.floor((action.usdc * 100_000) / price)))
        : Math.floor(own[action.outcome] * action.fraction);
    if (shares < SMALLEST) return;
    // Now and then an order meets several of one size at one price: equal rows in one transaction.
    const fills = shares >= 400 && this.chance.happens(0.02) ? 2 : 1;
    const tx = this.hash();
    for (let n = 0; n < fills; n += 1) this.fill(action, Math.floor(shares / fills), price, tx);
  }

  /** Pays winners, half a dollar a share after a refund; losers mostly leave their shares where they are. */
  settle(): void {
    const winner = this.path.first_wins ? 0 : 1;
    for (const [by, shares] of this.held) {
      const paid = this.plan.is_voided ? shares[0] + shares[1] : shares[winner];
      const loser = paid === 0 && shares[0] + shares[1] > 0;
      if ((paid === 0 && !loser) || !this.chance.happens(loser ? 0.15 : by.role === 'insider' || by.role === 'set_maker' ? 1 : 0.8))
        continue;
      const delay = by.role === 'insider' ? this.chance.between(300, 2_400) : Math.min(11 * DAY, this.chance.around(9 * HOUR, 1.2));
      const usdc = this.plan.is_voided ? paid * 500 : paid * 1_000;
      this.events.push({
        time: Math.floor(this.plan.resolved + 60 + delay),
        feed: 'activity',
        by,
        kind: 'REDEEM',
        outcome: null,
        shares: paid,
        price: 0,
        usdc,
        tx: this.hash(),
      });
    }
  }

  private holdings(by: Account): Shares {
    const known = this.held.get(by) ?? [0, 0];
    this.held.set(by, known);
    return known;
  }

  private hash(): string {
    return `0x${this.chance.hex(64)}`;
  }

  /** The price a taker pays or gets: fair price to the next tick against them, often one tick more. */
  private quote({ time, outcome, kind }: Action): number {
    const first = this.path.at((time - this.plan.created) / (this.plan.end - this.plan.created));
    const fair = 1_000 * (outcome === 0 ? first : 1 - first);
    const tick = fair < 40 || fair > 960 ? 1 : 10;
    const spread = tick * this.chance.whole(0, 1);
    const price = kind === 'buy' ? Math.ceil(fair / tick) * tick + spread : Math.floor(fair / tick) * tick - spread;
    return Math.min(999, Math.max(1, price));
  }

  private fill(action: Action, shares: number, price: number, tx: string): void {
    const { time, by, outcome } = action;
    const kind = action.kind === 'buy' ? 'BUY' : 'SELL';
    this.holdings(by)[outcome] += kind === 'BUY' ? shares : -shares;
    const usdc = shares * price;
    this.volume += usdc;
    this.events.push({ time, feed: 'trades', by, kind, outcome, shares, price, usdc, tx });
    if (by.role !== 'wash' && this.chance.happens(0.25)) this.mirror(action, shares, price, tx);
  }

  /** The other side of a match, where a set maker stood there: a buyer meets a buyer of the other outcome, a seller a buyer. */
  private mirror({ time, outcome, kind }: Action, shares: number, price: number, tx: string): void {
    const [side, paid] = kind === 'buy' ? ([outcome === 0 ? 1 : 0, 1_000 - price] as const) : ([outcome, price] as const);
    const own = this.holdings(this.maker);
    own[side] += shares;
    this.events.push({ time, feed: 'activity', by: this.maker, kind: 'BUY', outcome: side, shares, price: paid, usdc: shares * paid, tx });
    const sets = Math.min(own[0], own[1]);
    if (sets < SET) return;
    own[0] -= sets;
    own[1] -= sets;
    this.events.push({
      time: Math.min(time + 20, this.plan.end),
      feed: 'activity',
      by: this.maker,
      kind: 'MERGE',
      outcome: null,
      shares: sets,
      price: 0,
      usdc: sets * 1_000,
      tx: this.hash(),
    });
  }

  private split({ time, by, usdc }: Action): void {
    const shares = Math.floor(usdc * 100);
    const own = this.holdings(by);
    own[0] += shares;
    own[1] += shares;
    this.events.push({ time, feed: 'activity', by, kind: 'SPLIT', outcome: null, shares, price: 0, usdc: shares * 1_000, tx: this.hash() });
  }
}
