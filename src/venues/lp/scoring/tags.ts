import { DAY_MS } from '../../../lib/time';
import { SMART_SCORE } from './formula';

export type LpTag = 'elite' | 'smart' | 'whale' | 'fresh' | 'single_sided' | 'sniper';

/** What the tags of a provider look at, over its whole life. Null: not known, and then no tag. */
export interface LpBehaviour {
  score: number | null;
  /** Largest deposit total of one position, dollars at event time. */
  largest_position_usd: number | null;
  first_event_at: Date | null;
  /** Deposits of which both amounts are known, and those of one token only. */
  deposits_with_amounts: number;
  single_sided_deposits: number;
  /** Deposits into pools whose creation is known, and those made within an hour of it. */
  deposits_with_pool_age: number;
  young_pool_deposits: number;
}

/** Where the tags begin. */
export const LP_TAGS = { elite_score: 80, whale_usd: 50_000, fresh_days: 14, single_sided_share: 0.5, sniper_share: 0.5 } as const;

/** Tags of a provider as of `now`, in the order of LpTag. */
export function tagsOf(provider: LpBehaviour, now: Date): LpTag[] {
  const score = provider.score ?? -1;
  const { largest_position_usd, first_event_at } = provider;
  const rules: [LpTag, boolean][] = [
    ['elite', score >= LP_TAGS.elite_score],
    ['smart', score >= SMART_SCORE && score < LP_TAGS.elite_score],
    ['whale', largest_position_usd !== null && largest_position_usd >= LP_TAGS.whale_usd],
    ['fresh', first_event_at !== null && now.getTime() - first_event_at.getTime() < LP_TAGS.fresh_days * DAY_MS],
    ['single_sided', isShare(provider.single_sided_deposits, provider.deposits_with_amounts, LP_TAGS.single_sided_share)],
    ['sniper', isShare(provider.young_pool_deposits, provider.deposits_with_pool_age, LP_TAGS.sniper_share)],
  ];
  return rules.filter(([, holds]) => holds).map(([tag]) => tag);
}

const isShare = (part: number, whole: number, bound: number): boolean => whole > 0 && part / whole >= bound;
