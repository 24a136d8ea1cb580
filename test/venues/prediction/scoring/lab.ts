import { standardDeviation } from '../../../../src/lib/statistics';
import { seededRandom } from '../../../support/random';
import type { EndedPosition } from '../../../../src/venues/prediction/scoring/evidence';
import { type PmScore, scoreWallet } from '../../../../src/venues/prediction/scoring/formula';
import { NOW, daysAgo, position } from './planted';

export const STYLES = { favourites: [0.75, 0.94], coin_flips: [0.35, 0.65], long_shots: [0.04, 0.25] } as const;
export type Style = keyof typeof STYLES;
type Skill = 'skilled' | 'losing' | 'none';

/** A wallet of the model world with what it really is, its score, and what simpler rankings go by. */
export interface ModelWallet {
  skill: Skill;
  style: Style;
  n: number;
  score: PmScore;
  pnl: number;
  roi: number;
  win_rate: number;
  sharpe: number;
}

/**
 * A model world with known truth: 5 % of wallets have an edge of 3 to 8 points, 25 % lose as much, 70 % have none; positions log-normal with
 * median 27, stakes heavy-tailed, ends over a year, three styles of entry prices. What a ranking finds is then a number.
 */
export function modelWallets(seed: number, count: number): ModelWallet[] {
  const random = seededRandom(seed);
  const gauss = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const between = (low: number, high: number): number => low + (high - low) * random();
  const positionsOf = (n: number, edge: number, style: Style): EndedPosition[] => {
    const stake = Math.exp(4 + gauss());
    return Array.from({ length: n }, (_, index) => {
      const e = between(STYLES[style][0], STYLES[style][1]);
      const chance = Math.min(0.99, Math.max(0.005, e + edge));
      const cost_usdc = 1 + stake * Math.exp(gauss());
      return position({ event: `${index}`, e, y: random() < chance ? 1 : 0, cost_usdc, closed_at: daysAgo(between(0, 365)) });
    });
  };
  return Array.from({ length: count }, () => {
    const draw = random();
    const skill: Skill = draw < 0.05 ? 'skilled' : draw < 0.3 ? 'losing' : 'none';
    const edge = skill === 'none' ? 0 : (skill === 'skilled' ? 1 : -1) * between(0.03, 0.08);
    const style = (Object.keys(STYLES) as Style[])[Math.floor(random() * 3)] as Style;
    const n = Math.max(1, Math.round(27 * Math.exp(1.2 * gauss())));
    return described(skill, style, positionsOf(n, edge, style));
  });
}

function described(skill: Skill, style: Style, positions: EndedPosition[]): ModelWallet {
  const n = positions.length;
  const total = (of: (position: EndedPosition) => number): number => positions.reduce((sum, each) => sum + of(each), 0);
  const pnl = total(({ pnl_usdc }) => pnl_usdc);
  const returns = positions.map(({ pnl_usdc, cost_usdc }) => pnl_usdc / cost_usdc);
  const spread = standardDeviation(returns) ?? 0;
  return {
    skill,
    style,
    n,
    score: scoreWallet(positions, NOW),
    pnl,
    roi: pnl / total(({ cost_usdc }) => cost_usdc),
    win_rate: total(({ y }) => y) / n,
    sharpe: spread > 0 ? returns.reduce((sum, each) => sum + each, 0) / n / spread : 0,
  };
}
