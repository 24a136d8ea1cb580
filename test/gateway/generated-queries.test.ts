import http from 'node:http';
import fc from 'fast-check';
import { rawOfBody, readParameters } from '../../src/endpoints/read';
import { encodeCursor, listScope } from '../../src/lib/cursor';
import { type Told, ask, requestOf } from '../support/ask';
import { type GeneratedRequest, generatedRequests } from '../support/generated-requests';
import { type OpenGateway, startOpenGateway } from '../support/open-gateway';
import { loosestInput } from '../support/subjects';
import { type ThreeWorlds, commonWorlds } from '../support/three-worlds';

// Whatever is asked of whichever endpoint: an answer with data, or a refusal that says why; never a fault, and only data is charged.
// GENERATED_QUERIES says how many (100000 takes some minutes).

const QUERIES = Number(process.env.GENERATED_QUERIES ?? 3_000);
/** Another seed: other queries. */
const SEED = Number(process.env.GENERATED_SEED ?? 1);
const AT_ONCE = 16;
const BATCH = 1_000;
/** Long runs tell how far they are. */
const PROGRESS = 5_000;

let worlds: ThreeWorlds;
let gateway: OpenGateway;
const agent = new http.Agent({ keepAlive: true, maxSockets: AT_ONCE });

beforeAll(async () => {
  worlds = await commonWorlds();
  gateway = await startOpenGateway(worlds.database, worlds.now);
});
afterAll(async () => {
  agent.destroy();
  await gateway.close();
  await worlds.close();
});

interface Refusal {
  code: string;
  charged: unknown;
  error: string;
  details: { param?: string; issue?: string; allowed?: unknown; got?: unknown }[];
}

const STATUS: Record<string, number> = { invalid_body: 400, invalid_parameter: 400, missing_parameter: 400, range_too_large: 400, empty_result: 404, not_found: 404, body_too_large: 413 }; // prettier-ignore

/** What is wrong with the answer to a request; nothing where all is well. */
function wrongIn(told: Told): string[] {
  const charge = gateway.charges.get(told.headers['x-request-id'] as string);
  const wrong: string[] = [];
  const demand = (holds: boolean, sentence: string): void => void (holds || wrong.push(sentence));
  demand((charge?.charged ?? false) === (told.status === 200), `charged: ${charge?.charged} with status ${told.status}`);
  if (told.status === 200) {
    demand(told.body.length > 2, 'an empty answer was sold');
    return wrong;
  }
  const refusal = JSON.parse(told.body) as Refusal;
  demand(told.status === STATUS[refusal.code], `${told.status} ${refusal.code}`);
  demand(refusal.charged === false && refusal.error.length > 0, 'does not say that nothing was charged');
  if (!refusal.code.endsWith('_parameter')) return wrong;
  demand(refusal.details.length > 0, 'names no parameter');
  for (const { param, issue, allowed, got } of refusal.details) {
    demand(typeof param === 'string' && typeof issue === 'string', `a problem without a name: ${JSON.stringify(refusal.details)}`);
    demand(allowed !== undefined && allowed !== null, `${param} ${issue}: does not say what is allowed`);
    demand(
      refusal.code === 'missing_parameter' || /required/.test(issue ?? '') || got !== undefined,
      `${param} ${issue}: does not say what was got`,
    );
  }
  return wrong;
}

/** The shortest request that shows each kind of wrong. */
class Findings {
  private readonly shortest = new Map<string, string>();

  add(kind: string, request: GeneratedRequest, body: string): void {
    const example = `${request.method} ${request.target} ${request.body ?? ''} -> ${body}`.slice(0, 1_000);
    const known = this.shortest.get(kind);
    if (known === undefined || example.length < known.length) this.shortest.set(kind, example);
  }

  list(): string[] {
    return [...this.shortest].map(([kind, example]) => `${kind}: ${example}`);
  }
}

test(`${QUERIES} generated queries: no fault, no charge without data, every refusal explained`, async () => {
  const { prediction, perps, lp } = worlds.subjects;
  const requests = generatedRequests(
    gateway.paid.map(({ endpoint }) => endpoint),
    { ...prediction, ...perps, ...lp },
  );
  const findings = new Findings();
  const statuses: Record<number, number> = {};
  const answered = new Set<string>();
  const one = async (request: GeneratedRequest): Promise<void> => {
    const told = await ask(gateway.url, agent, request.method, request.target, request.body);
    statuses[told.status] = (statuses[told.status] ?? 0) + 1;
    if (told.status === 200) answered.add(request.endpoint);
    for (const kind of wrongIn(told)) findings.add(`${request.endpoint}: ${kind}`, request, told.body);
  };
  for (let done = 0; done < QUERIES; done += BATCH) {
    const batch = fc.sample(requests, { numRuns: Math.min(BATCH, QUERIES - done), seed: SEED + done });
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let request = batch.pop(); request !== undefined; request = batch.pop()) await one(request);
      }),
    );
    gateway.charges.clear();
    if ((done + BATCH) % PROGRESS === 0) process.stderr.write(`${done + BATCH} queries: ${JSON.stringify(statuses)}\n`);
  }
  process.stderr.write(`${JSON.stringify(statuses)}, ${answered.size} endpoints sold an answer\n`);
  expect(faults()).toEqual([]);
  expect(findings.list()).toEqual([]);
  expect(answered.size).toBeGreaterThan(QUERIES >= 3_000 ? 50 : 0);
}, 3_600_000);

/** What was logged as a fault of ours since the last look, each kind once. */
const faults = (): string[] => [...new Set(gateway.faults.splice(0).map((fault) => (fault as Error).stack ?? String(fault)))];

/** A position's parts that no list has: of another type, or values that no column holds. */
const FOREIGN = [
  null,
  '',
  'x',
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  '1e999',
  'NaN',
  'infinity',
  '2026-13-45T00:00:00Z',
  '\u0000',
  '\ud800',
  "'",
  '9'.repeat(400),
  '0x',
  '🐋',
];

test('a cursor whose insides were changed is refused, or names a place; it is never a fault', async () => {
  const findings = new Findings();
  let cursors = 0;
  for (const { endpoint } of gateway.paid.filter(({ endpoint }) => endpoint.parameters.some(({ name }) => name === 'cursor'))) {
    const input = { ...loosestInput(endpoint, worlds.subjects[endpoint.venue]), limit: 1 };
    const page = async (cursor?: string): Promise<Told & { request: GeneratedRequest }> => {
      const sent = cursor === undefined ? input : { ...input, cursor };
      const { path, body } = requestOf(endpoint, sent);
      const told = await ask(gateway.url, agent, endpoint.method, path, body);
      return { ...told, request: { endpoint: endpoint.name, method: endpoint.method, target: path, body } };
    };
    const first = await page();
    const cursor = first.status === 200 ? (JSON.parse(first.body) as { meta: { next_cursor: string | null } }).meta.next_cursor : null;
    if (cursor === null) continue;
    cursors += 1;
    const [mark, ...position] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [string, ...(string | number | null)[]];
    // Whoever reads the source can mark what they change.
    const scope = listScope(endpoint.name, readParameters(endpoint, rawOfBody(input)).variables);
    for (const index of position.keys())
      for (const foreign of FOREIGN) {
        const changed = Buffer.from(JSON.stringify([mark, ...position.with(index, foreign)])).toString('base64url');
        for (const forged of [changed, encodeCursor(position.with(index, foreign), scope)]) {
          const told = await page(forged);
          for (const kind of wrongIn(told)) findings.add(`${endpoint.name}[${index}]: ${kind}`, told.request, told.body);
        }
      }
  }
  expect(faults()).toEqual([]);
  expect(findings.list()).toEqual([]);
  expect(cursors).toBeGreaterThan(7);
});
