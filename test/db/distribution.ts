import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/root';

/** How each table is to be spread over a Citus cluster: by a column, in full on every node, or not at all. */
export type Place = { by: string; beside: string } | 'everywhere' | 'coordinator';

export const DISTRIBUTION_FILE = path.join(ROOT, 'prisma/citus/distribution.sql');

/** What prisma/citus/distribution.sql says of each table. Tables `beside` the same one stand together. */
export function distribution(): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const line of fs.readFileSync(DISTRIBUTION_FILE, 'utf8').split('\n')) {
    const spread = /create_distributed_table\('(\w+)', '(\w+)'(?:, colocate_with => '(\w+)')?\)/.exec(line);
    const full = /create_reference_table\('(\w+)'\)/.exec(line);
    const local = /^-- local: (.+)$/.exec(line);
    const [, table = '', by = '', beside = 'none'] = spread ?? [];
    if (spread !== null) places.set(table, { by, beside: beside === 'none' ? table : beside });
    else if (full !== null) places.set(full[1] as string, 'everywhere');
    else if (local !== null) for (const name of (local[1] as string).split(', ')) places.set(name, 'coordinator');
  }
  return places;
}
