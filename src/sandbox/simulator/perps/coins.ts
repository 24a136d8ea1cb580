import { DAY_MS } from '../../../lib/time';
import { randomOf } from '../world';
import { type PricePath, pricePath, walkNoise } from './path';

/** A coin of the pretended venue. */
export interface SimCoin {
  name: string;
  sz_decimals: number;
  max_leverage: number;
  /** Share of all trading. */
  weight: number;
  /** When it is listed and taken off (milliseconds). */
  listed: number;
  delisted: number;
  path: PricePath;
}

/** Price in USD, typical move of a day, and days until it is listed and taken off. */
type CoinRow = readonly [
  name: string,
  base: number,
  sz_decimals: number,
  max_leverage: number,
  weight: number,
  daily_vol: number,
  listed: number,
  delisted: number,
];

/** Those that most trading is in; insiders and the lucky are in these alone. */
export const MAJORS: readonly CoinRow[] = [
  ['BTC', 64_000, 5, 40, 30, 0.02, 0, Infinity],
  ['ETH', 3_200, 4, 25, 20, 0.028, 0, Infinity],
  ['SOL', 150, 2, 20, 12, 0.038, 0, Infinity],
  ['HYPE', 32, 2, 10, 8, 0.05, 0, Infinity],
  ['XRP', 2.2, 0, 20, 5, 0.035, 0, Infinity],
  ['DOGE', 0.19, 0, 10, 4, 0.045, 0, Infinity],
  ['SUI', 3.1, 1, 10, 3, 0.05, 0, Infinity],
  ['kPEPE', 0.011, 0, 10, 3, 0.06, 0, Infinity],
  ['AVAX', 24, 2, 10, 2, 0.042, 0, Infinity],
  ['LINK', 15, 1, 10, 2, 0.04, 0, Infinity],
  ['ENA', 0.6, 0, 10, 2, 0.06, 0, Infinity],
  ['ARB', 0.45, 1, 10, 1.5, 0.05, 0, Infinity],
  ['WIF', 0.9, 0, 5, 1.5, 0.065, 0, Infinity],
  ['xyz:CL', 68, 2, 10, 1.5, 0.02, 0, Infinity],
  ['TIA', 2.4, 1, 5, 1, 0.055, 0, 24],
  ['JUP', 0.5, 0, 5, 1, 0.055, 6, Infinity],
  ['ZEC', 45, 2, 5, 1, 0.05, 15, Infinity],
];

const MINORS = [
  'ADA BNB LTC TRX TON DOT NEAR APT OP SEI INJ ATOM FIL LDO AAVE UNI MKR CRV SNX DYDX GMX RUNE ALGO ICP HBAR ETC BCH XLM SAND MANA AXS APE GALA IMX BLUR STX ORDI PYTH JTO STRK',
  'ZRO EIGEN ETHFI ENS PENDLE ONDO TAO RENDER FET WLD AR KAS TRB YGG MEME kBONK kSHIB kFLOKI POPCAT MEW BRETT TURBO MOODENG GOAT PNUT FARTCOIN VIRTUAL AIXBT ZEREBRO GRIFFAIN BERA IP KAITO',
  'LAYER MOVE USUAL ME VINE ANIME PAXG NIL INIT SAGA ALT DYM MANTA XAI ACE GAS NEO POLYX BSV ZEN FXS CYBER MAV SUPER NTRN MINA CFX KAVA ZK BLAST IO NOT HMSTR CATI SCR MERL REZ BANANA LISTA',
  'OMNI TNSR PIXEL PORTAL MAVIA UMA ARK STG REQ RDNT FTT NFP BNT BLZ PEOPLE USTC CHILLGUY PENGU BIO SPX VVV ARC SOPH RESOLV HYPER PUMP WLFI ASTER LINEA XPL AVNT MON',
].flatMap((line) => line.split(' '));

/** Weights fall with the rank by this power: of 169 coins recorded in one day the busiest two held three fifths, half of them next to nothing. */
const FALL = 1.8;
/** Small worlds have the major coins alone, those from so many times their facts on all. */
const ALL_FROM = 4;

function minorCoin(name: string, place: number): CoinRow {
  const random = randomOf(0, 'coin', name);
  const base = 10 ** (4 * random() - 2);
  const weight = (MAJORS.length / (MAJORS.length + 1 + place)) ** FALL;
  const listed = random() < 0.15 ? 1 + Math.floor(28 * random()) : 0;
  const delisted = random() < 0.05 ? listed + 20 + Math.floor(20 * random()) : Infinity;
  return [name, base, Math.max(0, Math.ceil(Math.log10(base))), random() < 0.5 ? 3 : 5, weight, 0.045 + 0.045 * random(), listed, delisted];
}

/** The venue's coins, the major ones first; `busyness` as in Roster, `start` in milliseconds. */
export function makeCoins(seed: number, busyness: number, start: number): SimCoin[] {
  const market = { log: walkNoise(seed ^ 0x77, 0.018), beta: 0.8 };
  const minors = Math.round(MINORS.length * Math.min(1, Math.max(0, Math.log(busyness) / Math.log(ALL_FROM))));
  const rows = [...MAJORS, ...MINORS.slice(0, minors).map(minorCoin)];
  return rows.map(([name, base, sz_decimals, max_leverage, weight, daily_vol, listed, delisted], index) => {
    // Crude oil goes its own way.
    const path = pricePath({
      seed: Math.imul(seed + 1, 0x9e3779b1) ^ index,
      base,
      daily_vol,
      market: name === 'xyz:CL' ? undefined : market,
    });
    return { name, sz_decimals, max_leverage, weight, listed: start + listed * DAY_MS, delisted: start + delisted * DAY_MS, path };
  });
}
