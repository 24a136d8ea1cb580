import fs from 'node:fs';
import path from 'node:path';
import { ROOT } from './support/root';

const SRC = path.join(ROOT, 'src');

/** Who may import whom: each room, and the rooms below it that it may open. `venues/*` stands for each wing by itself. */
const DOORS: Record<string, readonly string[]> = {
  errors: [],
  lib: ['errors'],
  generated: [],
  observability: ['lib'],
  endpoints: ['errors', 'lib'],
  chains: ['errors', 'lib', 'observability'],
  db: ['errors', 'lib', 'observability', 'generated'],
  config: ['lib'],
  pricing: ['endpoints', 'errors', 'lib'],
  workers: ['db', 'errors', 'lib', 'observability', 'venues/venue'],
  'venues/venue': ['db', 'workers', 'lib', 'generated'],
  'venues/*': ['venues/venue', 'db', 'chains', 'workers', 'generated', 'errors', 'lib', 'observability'],
  payments: ['chains', 'db', 'errors', 'lib', 'observability', 'generated'],
  graph: ['venues/venue', 'db', 'errors', 'lib'],
  gateway: ['endpoints', 'pricing', 'payments', 'graph', 'observability', 'errors', 'lib', 'db/client'],
  // The sandbox pretends upstreams, chains and buyers over real wires; it hands payments their configuration.
  sandbox: ['chains', 'workers', 'venues/venue', 'payments', 'db', 'errors', 'lib', 'observability'],
  wings: ['db', 'graph', 'lib', 'venues/*', 'venues/venue'],
  // What is sold: the endpoints over the wings' graph.
  catalogue: ['endpoints', 'gateway', 'graph', 'venues/venue', 'wings'],
  app: [
    'catalogue',
    'wings',
    'config',
    'db',
    'endpoints',
    'gateway',
    'graph',
    'observability',
    'payments',
    'pricing',
    'venues/venue',
    'workers',
    'lib',
    'errors',
  ],
  cli: [
    'app',
    'catalogue',
    'wings',
    'config',
    'db',
    'endpoints',
    'pricing',
    'payments',
    'sandbox',
    'workers',
    'venues/venue',
    'observability',
    'lib',
    'errors',
    'chains',
  ],
  main: ['cli'],
};

function roomOf(file: string): string {
  const [first = '', second = ''] = file.split('/');
  if (first === 'venues') return second.startsWith('venue') ? 'venues/venue' : `venues/${second}`;
  return first.replace(/\.ts$/, '');
}

const FILES = fs
  .readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(path.sep).join('/'))
  .filter((file) => file.endsWith('.ts') && !file.startsWith('generated/'));

function importsOf(file: string): string[] {
  const text = fs.readFileSync(path.join(SRC, file), 'utf8');
  return [...text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)].map((match) =>
    path.posix.join(path.posix.dirname(file), (match[1] as string).replace(/\.js$/, '')),
  );
}

function mayOpen(from: string, to: string, target: string): boolean {
  if (from === to) return true;
  const own = from.startsWith('venues/') && from !== 'venues/venue' ? 'venues/*' : from;
  const doors = DOORS[own] ?? [];
  const isWing = to.startsWith('venues/') && to !== 'venues/venue';
  return doors.some((door) => door === to || (door === 'venues/*' && isWing && own !== 'venues/*') || target === door);
}

test('imports go down: every room opens only the doors it has', () => {
  const broken = FILES.flatMap((file) =>
    importsOf(file).flatMap((target) => {
      const [from, to] = [roomOf(file), roomOf(target)];
      return mayOpen(from, to, target)
        ? []
        : [`${file} imports ${target}: ${from} may open ${(DOORS[from] ?? DOORS['venues/*'])?.join(', ')}`];
    }),
  );
  expect(broken).toEqual([]);
});

test('every room is on the plan', () => {
  const rooms = new Set(FILES.map(roomOf).map((room) => (room.startsWith('venues/') && room !== 'venues/venue' ? 'venues/*' : room)));
  expect([...rooms].filter((room) => !(room in DOORS))).toEqual([]);
});

test('no circle of imports', () => {
  const graph = new Map(
    FILES.map((file) => [
      file,
      importsOf(file)
        .map((target) => [`${target}.ts`, `${target}/index.ts`].find((name) => FILES.includes(name)) ?? '')
        .filter(Boolean),
    ]),
  );
  const done = new Set<string>();
  const trail: string[] = [];
  const circles: string[] = [];
  const visit = (file: string): void => {
    const seen = trail.indexOf(file);
    if (seen !== -1) circles.push([...trail.slice(seen), file].join(' -> '));
    if (seen !== -1 || done.has(file)) return;
    trail.push(file);
    graph.get(file)?.forEach(visit);
    trail.pop();
    done.add(file);
  };
  FILES.forEach(visit);
  expect(circles).toEqual([]);
});

test('web3 and chain clients stay in their rooms, Express in the gateway', () => {
  const keepers: Record<string, RegExp> = {
    express: /^gateway\//,
    '@solana/web3.js': /^(chains|payments\/protocols|sandbox)\//,
    viem: /^(chains|payments\/protocols|sandbox)\//,
    mppx: /^(payments\/protocols|sandbox)\//,
  };
  const astray = FILES.flatMap((file) => {
    const text = fs.readFileSync(path.join(SRC, file), 'utf8');
    return Object.entries(keepers).flatMap(([name, rooms]) =>
      new RegExp(`from '${name}(/[^']*)?'`).test(text) && !rooms.test(file) ? [`${file} imports ${name}`] : [],
    );
  });
  expect(astray).toEqual([]);
});
