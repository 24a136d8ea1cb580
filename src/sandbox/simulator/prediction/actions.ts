import type { Chance } from './chance';
import type { Account, Crowd } from './crowd';
import type { PricePath } from './price-path';
import { DAY, HOUR, type Plan } from './schedule';

/** What somebody means to do on a market; times in Unix seconds. */
export interface Action {
  time: number;
  by: Account;
  kind: 'buy' | 'sell' | 'split';
  /** Place of the outcome bought or sold. */
  outcome: 0 | 1;
  /** Of a buy and a split. */
  usdc: number;
  /** Part of the shares held that is sold. */
  fraction: number;
}

/** What planning needs to know of the world. */
export interface Scene {
  plan: Plan;
  path: PricePath;
  crowd: Crowd;
  chance: Chance;
  /** First instant of the world. */
  start: number;
  /** Bets of the ordinary crowd on a market that draws 1. */
  bets: number;
  /** Chance that a wallet with a plan of its own comes to a market. */
  attendance: number;
  /** Trades of a machine's session. */
  session: number;
  /** Chance that a market maker has a session on a market. */
  making: number;
}

const other = (outcome: 0 | 1): 0 | 1 => (outcome === 0 ? 1 : 0);

/** Everything that everybody means to do on a market, in no order. */
export function planActions(scene: Scene): Action[] {
  const actions = [...ordinary(scene), ...informed(scene), ...favourites(scene), ...luck(scene), ...machines(scene), ...washing(scene)];
  if (scene.plan.has_insider) actions.push(...insideJob(scene));
  if (scene.plan.id === SAMPLE) actions.push(...regular(scene));
  return actions;
}

/** The documented sample market. */
export const SAMPLE = '0-0-0';

const priceOf = ({ plan, path }: Scene, outcome: 0 | 1, time: number): number => {
  const first = path.at((time - plan.created) / (plan.end - plan.created));
  return outcome === 0 ? first : 1 - first;
};

const winnerOf = ({ path }: Scene): 0 | 1 => (path.first_wins ? 0 : 1);

/** More by day than by night, more toward the end. */
function someTime({ plan, chance }: Scene, from = plan.created + 60): number {
  for (let attempt = 0; ; attempt += 1) {
    const time = Math.floor(from + (plan.end - 60 - from) * chance.unit() ** 0.8);
    const rhythm = (1 + 0.6 * Math.sin((2 * Math.PI * ((time % DAY) / HOUR - 10)) / 24)) / 1.6;
    if (attempt >= 6 || chance.happens(rhythm)) return time;
  }
}

const choose = (scene: Scene, account: Account): 0 | 1 => (scene.chance.happens(account.hit) ? winnerOf(scene) : other(winnerOf(scene)));

/** A bet and, often, its end before resolution. */
function bet(scene: Scene, by: Account, outcome: 0 | 1, time: number, usdc: number, leaves: number): Action[] {
  const { chance, plan } = scene;
  const actions: Action[] = parts(scene, by, outcome, time, usdc);
  if (chance.happens(leaves) && plan.end - time > 10 * 60) {
    const later = Math.floor(chance.between(time + 300, plan.end - 60));
    actions.push({ time: later, by, kind: 'sell', outcome, usdc: 0, fraction: chance.happens(0.6) ? 1 : 0.5 });
  }
  return actions;
}

/** Large bets come as bursts of fills, some through a split and the sale of the other side. */
function parts({ chance, plan }: Scene, by: Account, outcome: 0 | 1, time: number, usdc: number): Action[] {
  if (usdc > 400 && chance.happens(0.05)) {
    return [
      { time, by, kind: 'split', outcome, usdc, fraction: 1 },
      { time: time + 4, by, kind: 'sell', outcome: other(outcome), usdc: 0, fraction: 1 },
    ];
  }
  const count = usdc > 3_000 ? chance.whole(2, 8) : 1;
  let at = time;
  return Array.from({ length: count }, () => {
    at = Math.min(at + (count === 1 ? 0 : chance.whole(1, 20)), plan.end - 1);
    return { time: at, by, kind: 'buy' as const, outcome, usdc: usdc / count, fraction: 1 };
  });
}

function ordinary(scene: Scene): Action[] {
  const { chance, crowd, plan, start } = scene;
  const actions: Action[] = [];
  // A few do most of the trading.
  const few = (accounts: Account[]): Account => accounts[Math.floor(accounts.length * chance.unit() ** 2.5)] as Account;
  for (let n = chance.count(scene.bets * plan.draw); n > 0; n -= 1) {
    const time = someTime(scene);
    const ticket = chance.unit();
    const day = Math.floor((time - start) / DAY);
    const by =
      ticket < 0.62
        ? few(crowd.byRole.noise)
        : ticket < 0.84
          ? few(crowd.byRole.loser)
          : ticket < 0.95
            ? crowd.newcomer(Math.max(0, day - Math.floor(chance.wait(3))), chance.whole(0, crowd.newcomersPerDay - 1))
            : chance.pick(crowd.byRole.whale);
    actions.push(...bet(scene, by, choose(scene, by), time, chance.around(by.bet, 0.9), by.role === 'loser' ? 0.1 : 0.35));
  }
  return actions;
}

/** Who knows better, and who follows them. */
function informed(scene: Scene): Action[] {
  const { chance, crowd, plan } = scene;
  return crowd.byRole.skilled.flatMap((leader) => {
    if (!chance.happens(scene.attendance)) return [];
    const outcome = choose(scene, leader);
    const time = someTime(scene);
    const followers = crowd.byRole.copier.filter((copier) => copier.of === leader && chance.happens(0.8));
    const copies = followers.flatMap((by): Action[] => {
      const copied = Math.floor(time + Math.min(1_500, chance.around(90, 0.6)));
      return copied < plan.end - 60 ? [{ time: copied, by, kind: 'buy', outcome, usdc: chance.around(by.bet, 0.3), fraction: 1 }] : [];
    });
    return [...bet(scene, leader, outcome, time, chance.around(leader.bet, 0.5), 0.1), ...copies];
  });
}

/** Win nearly always, gain nothing: they buy what is nearly certain at its price. */
function favourites(scene: Scene): Action[] {
  const { chance, crowd } = scene;
  return crowd.byRole.favourite_buyer.flatMap((by) => {
    if (!chance.happens(scene.attendance)) return [];
    const time = someTime(scene);
    const outcome = priceOf(scene, 0, time) >= 0.5 ? 0 : 1;
    const price = priceOf(scene, outcome, time);
    return price >= 0.85 && price < 0.985
      ? [{ time, by, kind: 'buy' as const, outcome, usdc: chance.around(by.bet, 0.3), fraction: 1 }]
      : [];
  });
}

/** One long shot that came in, among a few bets that mean nothing. */
function luck(scene: Scene): Action[] {
  const { chance, crowd, plan } = scene;
  const by = chance.pick(crowd.byRole.lucky);
  if (chance.happens(scene.attendance * 0.5)) return bet(scene, by, chance.happens(0.5) ? 0 : 1, someTime(scene), by.bet / 40, 0.2);
  if (!chance.happens(0.05)) return [];
  const winner = winnerOf(scene);
  const cheap = Array.from({ length: 20 }, () => Math.floor(chance.between(plan.created + 60, plan.end - 60))).find(
    (time) => priceOf(scene, winner, time) <= 0.12,
  );
  return cheap === undefined ? [] : [{ time: cheap, by, kind: 'buy', outcome: winner, usdc: by.bet, fraction: 1 }];
}

/** Sessions of small trades every few seconds. */
function machines(scene: Scene): Action[] {
  const { chance, crowd, plan } = scene;
  if (!chance.happens(plan.topic.category === 'Crypto' ? 0.35 : 0.05)) return [];
  const by = chance.pick(crowd.byRole.hft_bot);
  let time = someTime(scene);
  const outcome: 0 | 1 = chance.happens(0.5) ? 0 : 1;
  return Array.from({ length: scene.session }, (_, n): Action => {
    time = Math.min(time + chance.whole(1, 5), plan.end - 1);
    const buys = n % 3 !== 2;
    return { time, by, kind: buys ? 'buy' : 'sell', outcome, usdc: chance.around(by.bet, 0.2), fraction: 1 };
  });
}

/** Two wallets that pass shares to and fro. */
function washing(scene: Scene): Action[] {
  const { chance, crowd, plan } = scene;
  if (!chance.happens(0.03)) return [];
  const [a, b] = crowd.byRole.wash as [Account, Account];
  let time = someTime(scene, plan.created + Math.floor((plan.end - plan.created) / 2));
  const step = (by: Account, kind: 'buy' | 'sell'): Action => ({
    time: (time = Math.min(time + chance.whole(2, 40), plan.end - 1)),
    by,
    kind,
    outcome: 0,
    usdc: a.bet,
    fraction: 1,
  });
  return [step(b, 'buy'), ...Array.from({ length: 3 }, () => [step(a, 'buy'), step(b, 'sell'), step(b, 'buy'), step(a, 'sell')]).flat()];
}

/** A fresh wallet bets large on what nobody expects yet, hours before the end. */
function insideJob(scene: Scene): Action[] {
  const { chance, crowd, plan } = scene;
  const by = crowd.insider(plan.id);
  const time = Math.floor(plan.end - chance.between(2, 5) * HOUR);
  return [0, 1].map((n) => ({ time: time + n * 900, by, kind: 'buy' as const, outcome: winnerOf(scene), usdc: by.bet / 2, fraction: 1 }));
}

/** The sample wallet trades the sample market several times a day, as long as it lives. */
function regular({ chance, crowd, plan }: Scene): Action[] {
  const by = crowd.byRole.whale[0] as Account;
  const actions: Action[] = [];
  for (let time = plan.created + HOUR; time < plan.end - HOUR; time += chance.whole(3, 7) * HOUR) {
    const kind = chance.happens(0.3) ? 'sell' : 'buy';
    actions.push({
      time: time + chance.whole(0, 1_800),
      by,
      kind,
      outcome: chance.happens(0.5) ? 0 : 1,
      usdc: chance.around(12_000, 0.4),
      fraction: 0.5,
    });
  }
  return actions;
}
