import { canonicalEvmAddress } from '../../../lib/address';
import { addCount } from '../../../lib/grouped';
import { emptyReport } from '../../../workers/ingest';
import type { RecordedSource } from '../../../workers/source';
import { moveCursor } from './cursor';

const SOURCE = 'perps.roles';

/** What the venue can say of an account. */
const ROLES = ['user', 'vault', 'subAccount', 'agent', 'missing'] as const;
type Role = (typeof ROLES)[number];

/**
 * Answers of info `userRole` with what was asked: `{request: {body: {type: 'userRole', user}}, response: {role}}`. A fact is an account's
 * role; one that says nothing new is a duplicate, a newer one replaces.
 */
export const roles: RecordedSource = {
  name: SOURCE,
  recognises: (first) => askedOf(first) !== undefined,
  async load(page, client, options) {
    const report = emptyReport();
    const known = new Map<string, Role>();
    for await (const record of page.records) {
      report.read += 1;
      const role = decodeRole(record);
      if (role === undefined) addCount(report.skipped, 'malformed');
      else if (known.has(role.trader)) report.duplicates += 1;
      if (role !== undefined) known.set(role.trader, role.role);
      options.progress(1);
    }
    const traders = [...known.keys()].sort();
    await options.turn;
    const { rowCount } = await client.query({ ...UPSERT, values: [traders, traders.map((trader) => known.get(trader))] });
    report.inserted = rowCount ?? 0;
    report.duplicates += known.size - report.inserted;
    await moveCursor(client, SOURCE, { cursor: { page: page.name }, watermark: null, last_event_at: null });
    return report;
  },
};

const UPSERT = {
  name: 'perps_upsert_roles',
  text: `
INSERT INTO perp_role AS kept (trader, role) SELECT * FROM unnest($1::text[], $2::text[])
ON CONFLICT (trader) DO UPDATE SET role = EXCLUDED.role WHERE kept.role <> EXCLUDED.role`,
};

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;

/** Whom a record asks for; undefined where it is no such exchange. */
function askedOf(record: unknown): unknown {
  const body = field(field(record, 'request'), 'body');
  return field(body, 'type') === 'userRole' ? field(body, 'user') : undefined;
}

/** Whose role an exchange tells; undefined where it tells none that is known. */
export function decodeRole(record: unknown): { trader: string; role: Role } | undefined {
  const user = askedOf(record);
  const trader = typeof user === 'string' ? canonicalEvmAddress(user) : undefined;
  const role = ROLES.find((known) => known === field(field(record, 'response'), 'role'));
  return trader === undefined || role === undefined ? undefined : { trader, role };
}
