import { pageOf } from '../../../workers/pages';
import type { LiveSource, UpstreamUrls } from '../../../workers/source';
import { askInTurn } from '../../../workers/turns';
import { type Upstream, makeUpstream } from '../../../workers/upstream';
import { filesAt } from './hour-files';
import { liveBlocks } from './live-blocks';
import { meta } from './meta';
import { decodeRole, roles } from './roles';

/** How often feeds are polled. */
export interface LiveTuning {
  fills_ms: number;
  meta_ms: number;
  roles_ms: number;
  /** Accounts whose role one poll asks for. */
  roles_a_poll: number;
  info_per_second: number;
}

// The venue allows 1,200 weights a minute and address: 20 for a catalogue, 60 for a role. Ten roles a minute leave half of it.
const TUNING: LiveTuning = { fills_ms: 1_000, meta_ms: 300_000, roles_ms: 60_000, roles_a_poll: 10, info_per_second: 0.5 };

/**
 * The feeds of the perpetual-futures venue. `archive`: where the data folder of a node is served (`/node_fills_by_block/hourly/…`), the only
 * feed with the fills of all accounts. `info`: the venue's own API, for its catalogue and what accounts are; without it both stay as they
 * were loaded.
 */
export function perpsFeeds({ archive, info }: UpstreamUrls, tuning: LiveTuning = TUNING): LiveSource[] {
  if (archive === undefined && info === undefined) return [];
  if (archive === undefined) throw new Error('PERPS_ARCHIVE_URL must be set where PERPS_INFO_URL is.');
  const blocks = liveBlocks(filesAt(archive), tuning.fills_ms);
  if (info === undefined) return [blocks];
  const api = makeUpstream({ url: info, per_second: tuning.info_per_second });
  return [blocks, liveMeta(api, tuning.meta_ms), liveRoles(api, tuning)];
}

/** The catalogue of the venue's own coins and of those that builders list on it. */
function liveMeta(api: Upstream, poll_ms: number): LiveSource {
  return {
    name: 'perps.meta',
    continues: null,
    gates: false,
    poll_ms,
    begin: () => ({}),
    head: ({ now }) => Promise.resolve(now()),
    async *update(_cursor, to, { signal }) {
      const dexes = await api.post('/info', { type: 'perpDexs' }, signal);
      const names = (Array.isArray(dexes) ? (dexes as ({ name?: unknown } | null)[]) : []).flatMap((dex) =>
        typeof dex?.name === 'string' ? [dex.name] : [],
      );
      const { told, skipped } = await askInTurn('dex', ['', ...names], (dex) => api.post('/info', { type: 'meta', dex }, signal), true);
      const answers = told.map(({ answer }) => answer);
      yield { pages: [{ source: meta, page: pageOf('meta', 'json', answers) }], skipped, cursor: {}, watermark: to };
    },
  };
}

const UNASKED = `
SELECT s.trader FROM perp_score s WHERE s.day = (SELECT max(day) FROM perp_score) AND NOT EXISTS (SELECT 1 FROM perp_role r WHERE r.trader = s.trader)
ORDER BY s.trades DESC, s.trader LIMIT $1 OFFSET $2`;

interface RolesCursor {
  /** Accounts of this lap that the venue told no role of, those that trade most: they are passed over until its end. */
  passed: number;
}

/** What accounts are, asked one by one: those that trade most first. */
function liveRoles(api: Upstream, { roles_ms, roles_a_poll }: LiveTuning): LiveSource {
  return {
    name: 'perps.roles',
    continues: null,
    gates: false,
    poll_ms: roles_ms,
    begin: () => ({ passed: 0 }) satisfies RolesCursor,
    head: ({ now }) => Promise.resolve(now()),
    async *update(cursor, to, { signal, db }) {
      const { passed = 0 } = cursor as Partial<RolesCursor>;
      const { rows } = await db.query<{ trader: string }>(UNASKED, [roles_a_poll, passed]);
      const asked = rows.map(({ trader }) => ({ type: 'userRole', user: trader }));
      const { told, skipped } = await askInTurn('role', asked, (body) => api.post('/info', body, signal), true);
      const exchanges = told.map(({ one, answer }) => ({ request: { body: one }, response: answer }));
      const without = asked.length - exchanges.filter((exchange) => decodeRole(exchange) !== undefined).length;
      const next = { passed: asked.length < roles_a_poll ? 0 : passed + without };
      const pages = exchanges.length === 0 ? [] : [{ source: roles, page: pageOf('roles', 'json', exchanges) }];
      yield { pages, skipped, cursor: next satisfies RolesCursor, watermark: to };
    },
  };
}
