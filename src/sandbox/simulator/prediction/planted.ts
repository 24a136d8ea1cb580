import { type Action, SAMPLE, type Scene } from './actions';
import type { Account } from './crowd';
import { HOUR } from './schedule';

/** Trades of a market maker's session. */
export const SESSION_TRADES = 24;
/** How many of those who know better come to the sample market. */
const REGULARS = 8;

/**
 * What happens on a market beside what its crowd does, from the scene's own random source: so that questions with strict bounds have an answer in a
 * small world too, and what the crowd does stays what it is.
 */
export function plantedActions(scene: Scene): Action[] {
  const actions = [...making(scene), ...herding(scene)];
  return scene.plan.id === SAMPLE ? [...actions, ...insight(scene)] : actions;
}

/** In and out of both outcomes for well under an hour, and out of all of it at the end. */
function making({ chance, crowd, plan, making: share }: Scene): Action[] {
  if (!chance.happens(share)) return [];
  const by = chance.pick(crowd.byRole.market_maker);
  let time = Math.floor(chance.between(plan.created + 300, plan.end - HOUR));
  return Array.from({ length: SESSION_TRADES }, (_, n): Action => {
    time += chance.whole(20, 90);
    const leaves = n >= SESSION_TRADES - 2;
    const outcome = n % 2 === 0 ? 0 : 1;
    return { time, by, kind: leaves || n % 4 > 1 ? 'sell' : 'buy', outcome, usdc: chance.around(by.bet, 0.3), fraction: leaves ? 1 : 0.5 };
  });
}

/** The herd comes early to the first listing of each day and mostly picks what will lose; on the sample market all of it picks the second outcome. */
function herding({ chance, crowd, plan, path }: Scene): Action[] {
  const sample = plan.id === SAMPLE;
  if (!sample && (plan.neg_risk || plan.is_voided || !plan.id.endsWith('-0-0'))) return [];
  const buy = (by: Account, outcome: 0 | 1, usdc: number, until: number): Action => ({
    time: Math.floor(chance.between(plan.created + 60, plan.created + until * (plan.end - plan.created))),
    by,
    kind: 'buy',
    outcome,
    usdc: chance.around(usdc, 0.4),
    fraction: 1,
  });
  if (sample) return crowd.herd.map((by) => buy(by, 1, by.bet, 0.15));
  const comes = crowd.herd.filter(() => chance.happens(0.7));
  return comes.map((by) => buy(by, chance.happens(by.hit) === path.first_wins ? 0 : 1, by.bet, 1 / 3));
}

/** Those who know better come back to the sample market several times a day. */
function insight({ chance, crowd, plan }: Scene): Action[] {
  const regulars = crowd.byRole.skilled.slice(0, REGULARS);
  const actions: Action[] = [];
  for (let time = plan.created + 6 * HOUR; time < plan.end - HOUR; time += chance.whole(1, 3) * HOUR) {
    const by = chance.pick(regulars);
    const kind = chance.happens(0.25) ? 'sell' : 'buy';
    actions.push({ time: time + chance.whole(0, 3_000), by, kind, outcome: 0, usdc: chance.around(3 * by.bet, 0.5), fraction: 0.5 });
  }
  return actions;
}
