import http from 'node:http';
import { sampleInput } from '../src/endpoints/json-schema';
import { ask, requestOf } from './support/ask';
import { ENDPOINTS } from './support/catalogue';
import { type OpenGateway, startOpenGateway } from './support/open-gateway';
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
}, 120_000);
