import http from 'node:http';
import type { Endpoint } from '../src/endpoints/endpoint';
import { sampleInput } from '../src/endpoints/json-schema';
import { CATEGORIES } from '../src/lib/category';
import { type Input, ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
import { fitting } from './support/subjects';
import { type ThreeWorlds, sandboxWorlds } from './support/three-worlds';

// What a newcomer tries first: every documented example, with default parameters, in the world that the sandbox begins with.

let worlds: ThreeWorlds;
let gateway: OpenGateway;
const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  worlds = await sandboxWorlds();
  gateway = await startOpenGateway(worlds.database, worlds.now);
}, 600_000);
afterAll(async () => {
  agent.destroy();
  await gateway.close();
  await worlds.close();
});

test('the documented example of every endpoint is answered with data', async () => {
  const unanswered: string[] = [];
  for (const endpoint of ENDPOINTS) {
    const { path, body } = requestOf(endpoint, sampleInput(endpoint));
    const told = await ask(gateway.url, agent, endpoint.method, path, body);
    if (told.status !== 200) unanswered.push(`${endpoint.name} ${told.status} ${(JSON.parse(told.body) as { code: string }).code}`);
  }
  expect(unanswered).toEqual([]);
});

/** What narrows an endpoint by the kind of thing it tells of: each of its values. */
const narrowed = ({ parameters, venue }: Endpoint): Input[] =>
  parameters.flatMap((parameter) => {
    if (parameter.list || !['category', 'coin', 'pool_type'].includes(parameter.name)) return [];
    const values = parameter.name === 'category' ? CATEGORIES : (parameter.choices ?? fitting(parameter, worlds.subjects[venue]) ?? []);
    return values.map((value) => ({ [parameter.name]: value }));
  });

const MOST_STEPS = 3;

/** The steps from an answer without data along what each suggests; what is suggested as null is left out. */
async function follow(endpoint: Endpoint, input: Input): Promise<{ steps: Input[]; code: string }> {
  const steps = [input];
  for (let sent = input; ;) {
    const { path, body } = requestOf(endpoint, sent);
    const told = await ask(gateway.url, agent, endpoint.method, path, body);
    const { code = String(told.status), suggestion } = JSON.parse(told.body) as { code?: string; suggestion?: Input | null };
    if (code !== 'empty_result' || !suggestion || steps.length > MOST_STEPS) return { steps, code };
    steps.push(suggestion);
    sent = Object.fromEntries(Object.entries({ ...sent, ...suggestion }).filter(([, value]) => value !== null));
  }
}

test('what an answer without data suggests leads to data, in three steps at most', async () => {
  const astray: string[] = [];
  // A pool that is named has one type, and is not found by another.
  const isFine = ({ code }: { code: string }): boolean => code === '200' || code === 'not_found';
  for (const endpoint of ENDPOINTS) {
    const ways = await Promise.all(narrowed(endpoint).map((narrow) => follow(endpoint, { ...sampleInput(endpoint), ...narrow })));
    astray.push(...ways.filter((way) => !isFine(way)).map(({ steps, code }) => `${endpoint.name} ${code} ${JSON.stringify(steps)}`));
  }
  expect(astray).toEqual([]);
});
