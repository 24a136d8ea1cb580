import crypto from 'node:crypto';
import type { Chance } from './chance';

const hash = (text: string): string => crypto.createHash('sha256').update(text).digest('hex');

/** Ids do not depend on the seed, so that a documented sample exists in every world. */
export const conditionId = (market: string): string => `0x${hash(`market ${market}`)}`;
export const questionId = (market: string): string => `0x${hash(`question ${market}`)}`;
export const tokenId = (market: string, outcome: number): string => String(BigInt(`0x${hash(`token ${market} ${outcome}`)}`));
export const walletAddress = (name: string): string => `0x${hash(`wallet ${name}`).slice(0, 40)}`;

/** What a listing is about: one question, or a group of which one comes true. */
export interface Topic {
  category: string;
  tags: string[];
  title: string;
  /** One question, or one per candidate of a group. */
  questions: string[];
  outcomes: [string, string];
}

const TOWNS = [
  'Arden',
  'Brackwater',
  'Calder',
  'Dunmore',
  'Eastmere',
  'Falkirk Bay',
  'Glenholt',
  'Harrowgate',
  'Isling',
  'Juniper Falls',
  'Kestrel',
  'Larkspur',
  'Morrow',
  'Northfell',
];
const CLUBS = ['Lions', 'Foxes', 'Owls', 'Mariners', 'Comets', 'Herons', 'Wolves', 'Rangers', 'Stags', 'Falcons', 'Pilots', 'Miners'];
const TEAMS = ['Nova Circuit', 'Iron Vale', 'Quiet Storm', 'Red Lantern', 'Pixel Guild', 'Zero Drift', 'Glass Canyon', 'Night Ferry'];
const PEOPLE = [
  'Mara Ellison',
  'Tomas Varga',
  'Ines Okafor',
  'Leif Harrow',
  'Priya Dunne',
  'Aldo Brandt',
  'Sana Whitlock',
  'Joren Pike',
  'Vera Castellan',
  'Milo Achterberg',
  'Noor Talbot',
  'Edda Quill',
];
const COUNTRIES = ['Valdoria', 'Norvant', 'Kestria', 'Ostmark', 'Lumeria', 'Tarsis', 'Quenda', 'Berrin'];
const COINS = ['Bitcoin', 'Ethereum', 'Solana', 'XRP', 'Dogecoin'];
const FIRMS = ['Halcyon Foods', 'Brightwell', 'Orrin Motors', 'Castell Energy', 'Meridian Rail', 'Lumen Retail'];
const LABS = ['Corvid Labs', 'Openfield', 'Tessera', 'Northlight', 'Aperture Works'];
const GAMES = ['Counter-Strike', 'Dota 2', 'Valorant', 'League of Legends'];
const WORDS = ['inflation', 'fisheries', 'tariff', 'railway', 'harvest', 'moonlight', 'audit'];

function two<T>(chance: Chance, items: readonly T[]): [T, T] {
  const first = chance.whole(0, items.length - 1);
  const second = (first + chance.whole(1, items.length - 1)) % items.length;
  return [items[first] as T, items[second] as T];
}

const YES_NO: [string, string] = ['Yes', 'No'];
const single = (category: string, tags: string[], question: string, outcomes = YES_NO): Topic => ({
  category,
  tags,
  title: question,
  questions: [question],
  outcomes,
});

type Maker = (chance: Chance, day: string) => Topic;

const TOPICS: readonly [number, Maker][] = [
  [
    20,
    (c, day) => {
      const [a, b] = two(c, CLUBS);
      const [x, y] = two(c, TOWNS);
      return single('Sports', ['sports', 'basketball'], `${x} ${a} vs. ${y} ${b} (${day})`, [`${x} ${a}`, `${y} ${b}`]);
    },
  ],
  [
    6,
    (c, day) => {
      const [a, b] = two(c, CLUBS);
      const line = c.whole(180, 230) + 0.5;
      return single('Sports', ['sports', 'games'], `${a} vs. ${b} (${day}): O/U ${line}`, ['Over', 'Under']);
    },
  ],
  [
    16,
    (c, day) => {
      const coin = c.pick(COINS);
      return single('Crypto', ['crypto', 'crypto-prices', 'up-or-down'], `${coin} Up or Down - ${day}`, ['Up', 'Down']);
    },
  ],
  [
    6,
    (c, day) => {
      const coin = c.pick(COINS);
      return single('Crypto', ['crypto', coin.toLowerCase()], `Will ${coin} set a new monthly high by ${day}?`);
    },
  ],
  [9, (c, day) => single('Politics', ['politics', 'elections'], `Will ${c.pick(PEOPLE)} win the ${c.pick(TOWNS)} by-election (${day})?`)],
  [
    4,
    (c, day) => {
      const town = c.pick(TOWNS);
      const names = shuffled(c, PEOPLE).slice(0, c.whole(3, 5));
      return {
        category: 'Politics',
        tags: ['politics', 'mayoral-elections'],
        title: `${town} mayoral election (${day})`,
        questions: names.map((name) => `Will ${name} win the ${town} mayoral election (${day})?`),
        outcomes: YES_NO,
      };
    },
  ],
  [
    9,
    (c, day) => {
      const [a, b] = two(c, TEAMS);
      const game = c.pick(GAMES);
      return single('Esports', ['sports', 'esports', slugOf(game)], `${game}: ${a} vs ${b} (${day})`, [a, b]);
    },
  ],
  [
    7,
    (c, day) => {
      const [a, b] = two(c, COUNTRIES);
      return single('World', ['world', 'geopolitics'], `Will ${a} and ${b} sign a ceasefire by ${day}?`);
    },
  ],
  [5, (c, day) => single('Finance', ['finance', 'stocks'], `Will ${c.pick(FIRMS)} close higher on ${day}?`)],
  [4, (c, day) => single('Tech', ['tech', 'ai'], `Will ${c.pick(LABS)} release a new model by ${day}?`)],
  [4, (c, day) => single('Culture', ['pop-culture', 'music'], `Will ${c.pick(PEOPLE)}'s album be number one on ${day}?`)],
  [4, (c, day) => single('Economics', ['economy', 'inflation'], `Will ${c.pick(COUNTRIES)}'s central bank cut rates by ${day}?`)],
  [
    3,
    (c, day) => {
      const town = c.pick(TOWNS);
      const low = c.whole(8, 24);
      const steps = [0, 2, 4, 6];
      return {
        category: 'Weather',
        tags: ['weather', 'daily-temperature'],
        title: `Highest temperature in ${town} on ${day}`,
        questions: steps.map((step) => `Will the highest temperature in ${town} be ${low + step}-${low + step + 1}°C on ${day}?`),
        outcomes: YES_NO,
      };
    },
  ],
  [
    3,
    (c, day) =>
      single('Mentions', ['mention-markets', 'politics'], `Will ${c.pick(PEOPLE)} say "${c.pick(WORDS)}" during the ${day} address?`),
  ],
];

const WEIGHT = TOPICS.reduce((sum, [weight]) => sum + weight, 0);

function shuffled<T>(chance: Chance, items: readonly T[]): T[] {
  return items
    .map((item) => [chance.unit(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** What a listing that ends on `day` asks. */
export function makeTopic(chance: Chance, day: string): Topic {
  let ticket = chance.unit() * WEIGHT;
  const [, make] = TOPICS.find(([weight]) => (ticket -= weight) < 0) ?? (TOPICS[0] as [number, Maker]);
  return make(chance, day);
}

/** Text as the venue writes it in URLs. */
export const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
