import { isoDay } from '../../../lib/time';
import { Chance } from './chance';
import { type Topic, makeTopic, slugOf } from './names';

export const HOUR = 3_600;
export const DAY = 86_400;

/** One market to be lived; times in Unix seconds. */
export interface Plan {
  /** `listing day-listing-market`, the name of everything about it. */
  id: string;
  number: number;
  question: string;
  slug: string;
  event: { id: string; slug: string; title: string };
  topic: Topic;
  created: number;
  end: number;
  resolved: number;
  /** After this nothing happens on it any more. */
  settled: number;
  neg_risk: boolean;
  is_voided: boolean;
  /** A group's markets: whether this one comes true. Null: left to chance. */
  first_wins: boolean | null;
  /** Chance of the first outcome at the start. */
  first_price: number;
  /** How much of the crowd it draws, 1 on average. */
  draw: number;
  has_insider: boolean;
}

/** The listings of a world, and how many a day brings. */
export interface Schedule {
  /** Markets that may do something in [from, to). */
  alive(from: number, to: number): Plan[];
  marketsPerDay: number;
}

/** Longest life of a market, and longest time its redemptions take. */
const LONGEST = 60 * DAY;
const SETTLING = 12 * DAY;
/** The first day brings as many listings as stand on an ordinary one. */
const STOCK_DAYS = 4;

/** The listings of a world. Each day's are made when first looked at, the same whenever that is. */
export function makeSchedule(seed: number, size: number, start: number): Schedule {
  const marketsPerDay = Math.min(400, Math.max(3, size / 30 / 75));
  const days = new Map<number, Plan[]>();
  const dayOf = (day: number): Plan[] => {
    const known = days.get(day) ?? listingsOf(seed, marketsPerDay, start, day);
    days.set(day, known);
    return known;
  };
  return {
    marketsPerDay,
    alive: (from, to) => {
      const first = Math.max(0, Math.floor((from - start - LONGEST - SETTLING - DAY) / DAY));
      const last = Math.floor((to - 1 - start) / DAY);
      for (const day of days.keys()) if (day < first) days.delete(day);
      const plans: Plan[] = [];
      for (let day = first; day <= last; day += 1)
        for (const plan of dayOf(day)) if (plan.created < to && plan.settled >= from) plans.push(plan);
      return plans;
    },
  };
}

function listingsOf(seed: number, perDay: number, start: number, day: number): Plan[] {
  const chance = new Chance(seed, 'day', day);
  // Groups bring several markets each: about 1.2 a listing.
  const mean = (perDay / 1.2) * (day === 0 ? STOCK_DAYS : 1);
  const listings = Math.max(1, chance.count(mean));
  return Array.from({ length: listings }, (_, number) => listingOf(seed, start, day, number)).flat();
}

function listingOf(seed: number, start: number, day: number, number: number): Plan[] {
  const chance = new Chance(seed, 'listing', day, number);
  const isSample = day === 0 && number === 0;
  const created = Math.floor(start + day * DAY + (isSample ? 0 : chance.between(0, day === 0 ? HOUR : DAY)));
  const life = isSample ? LONGEST : Math.min(LONGEST, Math.max(2 * HOUR, chance.around(1.6 * DAY, 1.1)));
  const end = Math.ceil((created + life) / 900) * 900;
  const topic = makeTopic(chance, isoDay(new Date(end * 1_000)));
  const alone = topic.questions.length === 1;
  const voided = !isSample && alone && chance.happens(0.02);
  const resolved = Math.floor(end + chance.between(0.2, 8) * HOUR);
  const winner = alone ? null : chance.whole(0, topic.questions.length - 1);
  const draw = isSample ? 6 : Math.min(15, 0.5 / Math.sqrt(1 - chance.unit()));
  // Nobody knows where a price goes: all that the world asks of coins and firms.
  const knowable = topic.category !== 'Crypto' && topic.category !== 'Finance';
  const insider = alone && !isSample && topic.outcomes[0] === 'Yes' && life > DAY && chance.happens(0.12) && knowable;
  return topic.questions.map((question, place) => {
    const id = `${day}-${number}-${place}`;
    return {
      id,
      number: 1_000_000 + day * 100_000 + number * 10 + place,
      question,
      slug: `${slugOf(question)}-${day}-${number}`,
      event: { id: String(100_000 + day * 1_000 + number), slug: `${slugOf(topic.title)}-${day}-${number}`, title: topic.title },
      topic,
      created,
      end,
      resolved,
      settled: resolved + SETTLING,
      neg_risk: !alone,
      is_voided: voided,
      first_wins: winner === null ? null : winner === place,
      first_price: alone ? chance.between(0.2, 0.8) : Math.min(0.8, Math.max(0.05, chance.around(1 / topic.questions.length, 0.4))),
      draw: insider ? Math.min(draw, 0.8) : draw,
      has_insider: insider && !voided,
    };
  });
}
