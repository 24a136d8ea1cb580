import type { Sql } from '../../../db/sql';
import { bucketOf } from '../../../lib/tiles';
import { DAY_MS, isoSecond } from '../../../lib/time';
import { listLatestSmart } from './latest-smart';
import { NEWEST_FILL, latestSince } from './latest-wallets';
import { Parameters } from './parameters';
import { SMART_SCORE } from '../scoring/tiers';
import { type Cut, type SmartRule, cutAt, smartPieces, tokenPieces, walletPieces } from './pieces';
import { listTakersByTime } from './taker-counts';
import { type Grain, categoryPieces, longestGrain, marketPieces } from './taken-pieces';
import { type ToldHours, loadTold, toldName, toldPieces, toldWalletPieces, withTold } from './told-pieces';

/** What volume is grouped by; a label is a category, a condition id, an instant in ISO form, `00`-`23`, or 1 (Monday) to 7. */
export type VolumeGroup = 'category' | 'market' | 'hour' | 'day' | 'hour_of_day' | 'day_of_week';

/** Whose volume: takers' (each match once), or with `smart` the own fills of smart wallets. */
export interface VolumeScope {
  cut: Cut;
  /** Milliseconds by which the first of two parts is moved to stand under the second; 0: labels are of its own time. */
  shift: number;
  category: string | null;
  smart: SmartRule | null;
}

/** Volume of one label in one part of the cut, exact decimal texts. */
export interface VolumeRow {
  label: string;
  part: number;
  buy_usdc: string;
  sell_usdc: string;
  volume: string;
  trades: number;
}

/** Different wallets of one label in the last part of the cut. */
export interface TraderRow {
  label: string;
  traders: number;
}

const iso = (instant: string): string => `to_char(${instant} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** SQL of a piece's label; `at` is its time, moved for the first part. */
function labelOf(group: VolumeGroup, at: string): string {
  switch (group) {
    case 'category':
      return 'category';
    case 'market':
      return 'piece.condition_id';
    case 'hour':
      return iso(`date_trunc('hour', ${at}, 'UTC')`);
    case 'day':
      return iso(`date_trunc('day', ${at}, 'UTC')`);
    case 'hour_of_day':
      return `to_char(${at} AT TIME ZONE 'UTC', 'HH24')`;
    case 'day_of_week':
      return `to_char(${at} AT TIME ZONE 'UTC', 'ID')`;
  }
}

/** SQL of the label of a piece, by the time it stands for. */
function pieceLabel(group: VolumeGroup, { shift }: VolumeScope, parameters: Parameters): string {
  const at =
    shift === 0
      ? 'piece.at'
      : `(piece.at + CASE piece.part WHEN 1 THEN ${parameters.add(`${shift} milliseconds`, 'interval')} ELSE interval '0' END)`;
  return labelOf(group, at);
}

/** SQL of a piece's label, and of its markets where they are needed. */
export function placeOf(group: VolumeGroup, scope: VolumeScope, parameters: Parameters): { label: string; markets: string } {
  const { category } = scope;
  const label = pieceLabel(group, scope, parameters);
  const only = category === null ? '' : ` AND market.category = ${parameters.add(category, 'text')}`;
  const markets =
    group === 'category' || category !== null ? `JOIN pm_market AS market ON market.condition_id = piece.condition_id${only}` : '';
  return { label, markets };
}

/** How a statement over a scope is named. */
export const nameOf = (what: string, group: VolumeGroup, { cut, shift, category, smart }: VolumeScope): string =>
  `pm_${what}_${group}_${cut.bounds.length}${shift === 0 ? '' : '_moved'}${cut.shift === null ? '' : '_torn'}${category === null ? '' : '_category'}${smart === null ? '' : '_smart'}`;

/** In which pieces the scope may be told: labels and buckets must not be shorter. Null: not by takers' rollups. */
export function grainOf(group: VolumeGroup, { cut, shift, smart }: VolumeScope, bucket_ms: number | null = null): Grain | null {
  if (smart !== null || cut.shift !== null) return null;
  if (group === 'market' && bucket_ms === null) return longestGrain(cut.bounds);
  return group === 'hour' || group === 'hour_of_day' || shift % DAY_MS !== 0 || (bucket_ms ?? 0) % DAY_MS !== 0 ? 'hour' : 'day';
}

/** How a scope is read. */
export interface Read {
  pieces: string;
  label: string;
  markets: string;
  /** Of its statement. */
  name: string;
  /** SQL of how many hours are told, where told ones are read. */
  told: string;
}

/** SQL of the pieces a scope is added up from, with their labels. */
export function readingOf(
  what: string,
  group: VolumeGroup,
  scope: VolumeScope,
  parameters: Parameters,
  grain: Grain | null,
  hours: ToldHours | null,
  filter = 'true',
): Read {
  const { cut, smart, category } = scope;
  const name = nameOf(what, group, scope);
  const told = '0';
  if (smart !== null && hours !== null) {
    const pieces =
      group === 'market'
        ? toldWalletPieces(cut, smart, hours, { category, filter }, parameters)
        : toldPieces(cut, smart, hours, category, parameters);
    return { pieces, label: pieceLabel(group, scope, parameters), markets: '', name: `${name}${toldName(hours)}`, told: 'max(told)' };
  }
  if (grain !== null && group === 'market')
    return {
      pieces: marketPieces(cut.bounds, grain, parameters, filter),
      ...placeOf(group, scope, parameters),
      name: `${name}_${grain}s`,
      told,
    };
  if (grain !== null) {
    const pieces = categoryPieces(cut.bounds, { category, named: group === 'category', grain }, parameters);
    return { pieces, label: pieceLabel(group, scope, parameters), markets: '', name: `${name}_${grain}s`, told };
  }
  const pieces = smart === null ? tokenPieces(cut, parameters, filter) : smartPieces(cut, smart, parameters, filter);
  return { pieces, ...placeOf(group, scope, parameters), name, told };
}

/** What is told of a scope. */
export const toldOf = async (sql: Sql, { cut, smart }: VolumeScope): Promise<ToldHours | null> =>
  smart === null || smart.min_score !== SMART_SCORE ? null : loadTold(sql, cut, smart);

/** Whether what is kept by category tells it, a few rows an hour or day, found by key: planning takes most of it. */
const isFoundByKey = (group: VolumeGroup, { category }: VolumeScope, isKept: boolean): boolean =>
  isKept && group !== 'market' && (group === 'category' || category !== null);

/** Volume by label and part of the cut. */
export async function listVolumes(sql: Sql, group: VolumeGroup, scope: VolumeScope): Promise<VolumeRow[]> {
  return withTold(await toldOf(sql, scope), (hours) => {
    const parameters = new Parameters();
    const grain = grainOf(group, scope);
    const { pieces, label, markets, name, told } = readingOf('volumes', group, scope, parameters, grain, hours);
    const keyed = isFoundByKey(group, scope, hours !== null || grain !== null);
    const text = `SELECT ${label} AS label, piece.part, sum(buy_usdc) AS buy_usdc, sum(sell_usdc) AS sell_usdc, sum(buy_usdc) + sum(sell_usdc) AS volume, sum(buys + sells)::int AS trades, ${told} AS told
FROM (${pieces}) AS piece ${markets} GROUP BY 1, 2 HAVING sum(buys + sells) > 0`;
    return sql.query<VolumeRow & { told: number }>({ name, text, keyed }, parameters.values);
  });
}

/** Different takers by category since `from`; null where facts of `to` or later are in the store: who traded after `to` may have traded before. */
async function listLatestTakers(sql: Sql, from: Date, to: Date, category: string | null): Promise<TraderRow[] | null> {
  const parameters = new Parameters();
  const chosen =
    category === null
      ? `ARRAY(SELECT DISTINCT category FROM pm_latest_day WHERE category <> '')`
      : `ARRAY[${parameters.add(category, 'text')}]`;
  const text = `SELECT category AS label, sum(wallets)::int AS traders, ${NEWEST_FILL} < ${parameters.add(to, 'timestamptz')} AS newest
FROM (${latestSince(from, chosen, parameters)}) AS latest GROUP BY category`;
  const rows = await sql.query<TraderRow & { newest: boolean }>(
    { name: `pm_latest_takers${category === null ? '' : '_category'}`, text, keyed: true },
    parameters.values,
  );
  return rows.every(({ newest }) => newest) ? rows : null;
}

/** Different takers (smart wallets, where the scope is theirs) by label, in the last part of the cut. */
export async function listTraders(sql: Sql, group: VolumeGroup, scope: VolumeScope): Promise<TraderRow[]> {
  if (group === 'category' && scope.smart === null) {
    const [from, to] = scope.cut.bounds.slice(-2) as [Date, Date];
    const latest = await listLatestTakers(sql, from, to, scope.category);
    if (latest !== null) return latest;
  }
  if ((group === 'hour' || group === 'day') && scope.smart === null) {
    const [from, to] = scope.cut.bounds.slice(-2) as [Date, Date];
    const counts = await listTakersByTime(sql, group, { from, to }, scope.category);
    return counts.map(({ at, traders }) => ({ label: isoSecond(at), traders }));
  }
  const own = { ...scope, cut: lastPart(scope.cut), shift: 0 };
  const { cut, smart } = own;
  return withTold(smart === null ? null : await loadTold(sql, cut, smart), async (hours) => {
    const latest =
      group === 'category' && smart !== null && hours !== null ? await listLatestSmart(sql, cut, smart, hours, own.category) : null;
    if (latest !== null) return latest;
    const parameters = new Parameters();
    const { pieces, label, markets } = tradersOf(group, own, hours, parameters);
    const counted = smart === null ? 'WHERE taker_buys + taker_sells > 0' : '';
    const text = `SELECT label, count(wallet)::int AS traders, max(told) AS told FROM (
  SELECT ${label} AS label, piece.wallet, ${hours === null ? 0 : 'max(told)'} AS told FROM (${pieces}) AS piece ${markets} ${counted} GROUP BY 1, 2
) AS traded GROUP BY label HAVING count(wallet) > 0`;
    const name = `${nameOf('traders', group, own)}${toldName(hours)}`;
    return sql.query<TraderRow & { told: number }>({ name, text, keyed: isFoundByKey(group, own, hours !== null) }, parameters.values);
  });
}

/** SQL of the pieces wallets of a scope are counted by, with their labels. */
function tradersOf(
  group: VolumeGroup,
  scope: VolumeScope,
  hours: ToldHours | null,
  parameters: Parameters,
): Pick<Read, 'pieces' | 'label' | 'markets'> {
  const { cut, smart, category } = scope;
  if (smart !== null && hours !== null) {
    const pieces = toldWalletPieces(cut, smart, hours, { category }, parameters);
    return { pieces, label: pieceLabel(group, scope, parameters), markets: '' };
  }
  const pieces = smart === null ? walletPieces(cut, parameters) : smartPieces(cut, smart, parameters);
  const { label, markets } = placeOf(group, scope, parameters);
  // Of smart pieces a fraction is expected, and each of them would be looked up: a full join cannot but hash.
  return { pieces, label, markets: smart !== null && category === null && markets !== '' ? `FULL ${markets}` : markets };
}

const lastPart = (cut: Cut): Cut => cutAt(cut.bounds.slice(-2));

/** Volume of one label in one bucket, by the time of its start. */
export interface VolumeCellRow {
  label: string;
  bucket: Date;
  volume: string;
  trades: number;
}

/** Volume of these labels in buckets of `bucket_ms`, UTC multiples, over the last part of the cut; oldest first. */
export async function listVolumeCells(
  sql: Sql,
  group: VolumeGroup,
  scope: VolumeScope,
  labels: readonly string[],
  bucket_ms: number,
): Promise<VolumeCellRow[]> {
  const own = { ...scope, cut: lastPart(scope.cut), shift: 0 };
  return withTold(await toldOf(sql, own), (hours) => {
    const parameters = new Parameters();
    const shown = parameters.addUnseen(labels);
    const filter = group === 'market' ? `condition_id = ANY (${shown})` : 'true';
    const grain = grainOf(group, own, bucket_ms);
    const { pieces, label, markets, name, told } = readingOf('cells', group, own, parameters, grain, hours, filter);
    const bucket = bucketOf('piece.at', parameters.addLength(bucket_ms));
    const text = `SELECT * FROM (SELECT ${label} AS label, ${bucket} AS bucket, sum(buy_usdc) + sum(sell_usdc) AS volume, sum(buys + sells)::int AS trades, ${told} AS told
FROM (${pieces}) AS piece ${markets} GROUP BY 1, 2 HAVING sum(buys + sells) > 0) AS cell WHERE label = ANY (${shown}) ORDER BY bucket, label`;
    return sql.query<VolumeCellRow & { told: number }>({ name, text }, parameters.values);
  });
}
