import type { Sql } from '../../../db/sql';
import { Parameters } from './parameters';
import { comparedPieces, livesUntil, marketPieces } from './taken-pieces';
import { type ToldHours, withTold } from './told-pieces';
import { type VolumeGroup, type VolumeScope, grainOf, nameOf, placeOf, readingOf, toldOf } from './volumes';

/** A label that traded in the last part of the cut; exact decimal texts. */
interface RankedVolume {
  label: string;
  volume: string;
  trades: number;
  /** Of the part before; 0 where there is none. */
  previous: string;
}

/** The labels of most volume, and what all labels that traded in the last part come to. */
export interface VolumeRanking {
  /** Most volume first, ties by label. */
  rows: RankedVolume[];
  total_volume: string;
  total_trades: number;
  /** Sum of the squares of their volumes. */
  squares: string;
  /** Labels whose volume rose, and fell, by most percent; null where none did. */
  gainer: string | null;
  loser: string | null;
}

type Row = RankedVolume & Omit<VolumeRanking, 'rows'> & { told: number };
type Total = Pick<VolumeRanking, 'total_volume' | 'total_trades' | 'squares'>;

const TOTAL = 'sum(volume) AS total_volume, sum(trades)::int AS total_trades, sum(volume * volume) AS squares';

/** At most `limit` labels of a scope by volume in the last part of its cut, of one or two parts; null where nothing was traded in it. */
export async function rankVolumes(sql: Sql, group: VolumeGroup, scope: VolumeScope, limit: number): Promise<VolumeRanking | null> {
  if (grainOf(group, scope) === 'life' && scope.cut.bounds.length === 2) return rankLives(sql, group, scope, limit);
  const rows = await withTold(await toldOf(sql, scope), (hours) => {
    const parameters = new Parameters();
    const { volumes, name } = volumesOf(group, scope, hours, parameters);
    const parts = scope.cut.bounds.length - 1;
    const first = (order: string, which: string): string =>
      `(SELECT label FROM ranked WHERE ${which} ORDER BY ${order}, volume DESC, label COLLATE "C" LIMIT 1)`;
    // Changes in millionths of a percent, as they are told: binary fractions tell no equal ones apart.
    const text = `WITH volume AS MATERIALIZED (
  ${volumes}
), ranked AS (
  SELECT label, volume, CASE WHEN previous <> 0 THEN round((volume - previous)::float8 / previous::float8 * 1e8::float8) END AS change FROM volume
), total AS MATERIALIZED (
  SELECT ${TOTAL} FROM volume
)
SELECT label, volume, trades, previous, told, total.*, ${parts === 1 ? 'NULL' : first('change DESC', 'change > 0')} AS gainer, ${parts === 1 ? 'NULL' : first('change', 'change < 0')} AS loser
FROM volume CROSS JOIN total
ORDER BY volume DESC, label COLLATE "C" LIMIT ${parameters.add(limit, 'int')}`;
    return sql.query<Row>({ name, text }, parameters.values);
  });
  return rows[0] === undefined ? null : { ...rows[0], rows };
}

/** SQL of label, volume, trades, previous and `told` of the labels that traded in the last part. */
function volumesOf(
  group: VolumeGroup,
  scope: VolumeScope,
  hours: ToldHours | null,
  parameters: Parameters,
): { volumes: string; name: string } {
  const grain = grainOf(group, scope);
  const parts = scope.cut.bounds.length - 1;
  if (group === 'market' && grain === 'day' && parts === 2) {
    const pieces = comparedPieces(scope.cut.bounds, parameters);
    const { label, markets } = placeOf(group, scope, parameters);
    const volumes = `SELECT ${label} AS label, sum(volume) AS volume, sum(trades)::int AS trades, COALESCE(sum(previous), 0) AS previous, 0 AS told
  FROM (${pieces}) AS piece ${markets} GROUP BY 1 HAVING sum(trades) > 0`;
    return { volumes, name: `${nameOf('ranking', group, scope)}_compared` };
  }
  const { pieces, label, markets, name, told } = readingOf('ranking', group, scope, parameters, grain, hours);
  const last = `part = ${parts}`;
  const volumes = `SELECT ${label} AS label, sum(buy_usdc + sell_usdc) FILTER (WHERE ${last}) AS volume, (sum(buys + sells) FILTER (WHERE ${last}))::int AS trades,
    COALESCE(sum(buy_usdc + sell_usdc) FILTER (WHERE NOT ${last}), 0) AS previous, ${told} AS told
  FROM (${pieces}) AS piece ${markets} GROUP BY 1 HAVING sum(buys + sells) FILTER (WHERE ${last}) > 0`;
  return { volumes, name };
}

/** The same of whole lives: as they stand where nothing came after the cut, else less what did. */
const rankLives = async (...asked: [Sql, VolumeGroup, VolumeScope, number]): Promise<VolumeRanking | null> =>
  (await readLives('standing', ...asked)) ?? (await readLives('less', ...asked));

/** There is one piece a market, so nothing is to be kept for both what is shown and what all come to. Null where there is no market, or `standing` lives went on. */
async function readLives(
  how: 'standing' | 'less',
  sql: Sql,
  group: VolumeGroup,
  scope: VolumeScope,
  limit: number,
): Promise<VolumeRanking | null> {
  const read = (parameters: Parameters): string => {
    const pieces =
      how === 'standing' ? livesUntil(scope.cut.bounds[1] as Date, parameters) : marketPieces(scope.cut.bounds, 'life', parameters);
    const { label, markets } = placeOf(group, scope, parameters);
    return `SELECT ${label} AS label, buy_usdc + sell_usdc AS volume, (buys + sells)::int AS trades FROM (${pieces}) AS piece ${markets} WHERE buys + sells > 0`;
  };
  const [shown, all] = [new Parameters(), new Parameters()];
  const name = `${nameOf('ranking', group, scope)}_lives_${how}`;
  const text = `SELECT *, '0' AS previous FROM (${read(shown)}) AS volume ORDER BY volume DESC, label COLLATE "C" LIMIT ${shown.add(limit, 'int')}`;
  const [rows, [total]] = await Promise.all([
    sql.query<RankedVolume>({ name: `${name}_shown`, text }, shown.values),
    // Fenced: each of the sums would add a market's volume up anew.
    sql.query<Total>(
      { name: `${name}_total`, text: `SELECT ${TOTAL} FROM (${read(all)} OFFSET 0) AS volume HAVING count(*) > 0` },
      all.values,
    ),
  ]);
  return rows.length === 0 || total === undefined ? null : { ...total, gainer: null, loser: null, rows };
}
