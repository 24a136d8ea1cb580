import type { VenueName } from '../../src/lib/venue-name';

/** A rule by names: what a field called so may hold. Null is always allowed: unknown. */
interface Rule {
  name: RegExp;
  holds(value: unknown): boolean;
  says: string;
  only?: VenueName;
}

const number = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
const within =
  (low: number, high: number) =>
  (value: unknown): boolean =>
    number(value) && value >= low && value <= high;
const text =
  (form: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && form.test(value);
const decimals =
  (places: number) =>
  (value: unknown): boolean =>
    number(value) && Math.abs(value * 10 ** places - Math.round(value * 10 ** places)) <= Math.max(1e-6, Math.abs(value) * 1e-6);
const each =
  (holds: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) ? value.every(holds) : holds(value);

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** What fields of these names look like, the more special name first: the first that fits is the one that counts. */
const RULES: readonly Rule[] = [
  { name: /^(condition_id)$/, holds: text(/^0x[0-9a-f]{64}$/), says: '0x and 64 lower-case hex digits' },
  { name: /^(wallet|trader|leader|follower)$/, holds: text(/^0x[0-9a-f]{40}$/), says: '0x and 40 lower-case hex digits' },
  { name: /^(token_id)$/, holds: text(/^[0-9]{1,78}$/), says: 'a decimal text' },
  { name: /^(pool_address|owner|token_mint|token_[xy]_mint|PoolAddress|Owner)$/, holds: text(BASE58), says: 'a whole base58 address' },
  { name: /^(position_address|PositionAddress)$/, holds: text(BASE58), says: 'a whole base58 address' },
  { name: /^(first_bet_size)$/, holds: () => true, says: '' },
  { name: /_at$|^timestamp$|^bucket$|^(first|last)_(trade|event|seen|updated)$|^end_date$|^as_of$|^Timestamp$/, holds: text(INSTANT), says: 'an instant, UTC, whole seconds' },
  { name: /^date$/, holds: text(/^\d{4}-\d\d-\d\d$/), says: 'a day' },
  { name: /^(is|has)_|^in_range$|^won$|^found$/, holds: (value) => typeof value === 'boolean', says: 'true or false' },
  { name: /_count$|^rank$|^fills$/, holds: (value) => Number.isInteger(value) && (value as number) >= 0, says: 'a whole number' },
  { name: /^streak$/, holds: Number.isInteger, says: 'a whole number, negative for losses' },
  { name: /^(percentage|pct_of_(total|outcome|value))$/, holds: within(0, 100.000001), says: '0 to 100' },
  { name: /_pct$|_percent$|^pct_/, holds: number, says: 'a number' },
  { name: /^(long_short_ratio|buy_sell_ratio|profit_factor|opening_long_short_ratio)$/, holds: within(0, Number.MAX_VALUE), says: 'a quotient, not negative' },
  { name: /pressure_ratio$/, holds: within(-1, 1), says: '-1 to 1' },
  { name: /^(sharpe_ratio|category_sharpe|sharpe)$/, holds: number, says: 'a number' },
  { name: /^(win_rate.*|.*_win_rate(_lb)?|.*_ratio|.*_share|accuracy|.*_accuracy|probability|gini|hhi|jaccard|similarity|.*_hit_rate|volume_concentration|coin_concentration)$/, holds: within(0, 1), says: '0 to 1' },
  { name: /_strength$/, holds: (value) => typeof value === 'string' || within(0, 1)(value), says: '0 to 1, or a word' },
  { name: /^(copy_score|overlap_score)$/, holds: within(0, 1), says: '0 to 1' },
  { name: /^(interest_score)$/, holds: number, says: 'a number' },
  { name: /^score$/, holds: within(-100, 100), says: '-100 to 100' },
  { name: /_score$|^LpScore$/, holds: (value) => within(0, 100)(value) && decimals(1)(value), says: '0 to 100, one decimal' },
  { name: /^price$|_price$/, holds: each(within(0, 1)), says: '0 to 1', only: 'prediction' },
  { name: /^price$|_price$/, holds: within(0, Number.MAX_VALUE), says: 'a price' },
  { name: /_usdc?$|^(pnl|volume|usdc)$|_(volume|pnl|flow|pressure)$/, holds: decimals(6), says: 'US dollars with at most 6 decimals' },
  { name: /_(hours|minutes|seconds|days)$/, holds: number, says: 'a number' },
]; // prettier-ignore

const SNAKE = /^[a-z][a-z0-9_]*$/;
/** Native event records keep the spelling of their program. */
const PASCAL = /^[A-Z][A-Za-z0-9]*$/;

/** Where an answer breaks the rules by names, each place once, as `path: what stands there is not …`. */
export function brokenRules(data: unknown, venue: VenueName): string[] {
  const broken = new Map<string, string>();
  visit(data, '', (name, value, path) => {
    if (!SNAKE.test(name) && !PASCAL.test(name)) broken.set(path, `${path}: a name of neither spelling`);
    if (value === undefined) broken.set(path, `${path}: left out`);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return;
    const rule = RULES.find((one) => one.name.test(name) && (one.only === undefined || one.only === venue));
    if (rule === undefined || (Array.isArray(value) && typeof value[0] === 'object')) return;
    if (!each(rule.holds)(value)) broken.set(path, `${path}: ${JSON.stringify(value)} is not ${rule.says}`);
  });
  return [...broken.values()];
}

function visit(value: unknown, path: string, see: (name: string, value: unknown, path: string) => void): void {
  if (Array.isArray(value)) for (const item of value) visit(item, `${path}[]`, see);
  else if (typeof value === 'object' && value !== null)
    for (const [name, child] of Object.entries(value)) {
      // The one object whose fields are named for figures and hold who was best by them.
      if (name === 'comparison_winners') continue;
      see(name, child, `${path}.${name}`);
      visit(child, `${path}.${name}`, see);
    }
}
