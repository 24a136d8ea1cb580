import { loadCatalogue } from '../catalogue';
import type { Endpoint } from '../endpoints/endpoint';
import { rawOfBody, rawOfQuery, readParameters } from '../endpoints/read';
import type { Reading } from '../endpoints/reading';
import { CAPS_MICRO, WINDOW_LISTS } from '../pricing/exceptions';
import { quote } from '../pricing/quote';
import { BASE_MICRO, usd } from '../pricing/tiers';
import { type Command, parseArguments } from './command';
import { parseRequest } from './request';

const QUOTE_USAGE = `npm run quote -- GET|POST '/api/v1/…' [--body '{…}']`;

/** Explains a price, factor by factor. */
export const command: Command = async (args, { root }) => {
  const { options, words } = parseArguments(args, ['body'], QUOTE_USAGE);
  const request = parseRequest(words, options.body, QUOTE_USAGE);
  const [path = '', query = ''] = request.target.split(/\?(.*)/s, 2);
  const endpoint = loadCatalogue(root).endpoints.find((candidate) => candidate.path === path);
  if (endpoint === undefined) throw new Error(`No endpoint at ${path}; \`npm run endpoints\` lists all.`);
  if (endpoint.method !== request.method) throw new Error(`${path} is asked by ${endpoint.method}, not by ${request.method}.`);
  if (endpoint.method === 'POST' && query !== '') throw new Error(`${path} takes its parameters as --body '{…}', not in the query.`);
  const reading = readParameters(
    endpoint,
    endpoint.method === 'GET' ? rawOfQuery(new URLSearchParams(query)) : rawOfBody(request.body ?? {}),
  );
  process.stdout.write(`${explain(endpoint, reading)}\n`);
  return reading.problems.length === 0 ? 0 : 1;
};

function explain(endpoint: Endpoint, reading: Reading): string {
  const { variables } = reading;
  const { pricing, amount } = quote(endpoint, variables);
  const cap = CAPS_MICRO[endpoint.name];
  const windows = variables.timeframe ?? variables[WINDOW_LISTS[endpoint.name] ?? ''] ?? 'none';
  const filters = pricing.filters.map(({ param, factor }) => `${param} × ${factor}`).join(', ') || 'none';
  const lines = [
    `${endpoint.method} ${endpoint.path}: ${endpoint.summary}`,
    `  base        ${usd(BASE_MICRO[pricing.tier])}  (${pricing.tier})`,
    `  timeframe   × ${pricing.timeframe_multiplier}  (${String(windows)})`,
    `  limit       × ${pricing.limit_multiplier}`,
    `  filters     × ${pricing.filter_multiplier}  (${filters})`,
    `  special     × ${pricing.special_multiplier}`,
    ...(cap === undefined ? [] : [`  cap         ${usd(cap)}`]),
    `  price       ${usd(amount)}  (${amount} micro-USDC)${pricing.clamped ? `, held at the ${pricing.clamped}` : ''}`,
    ...reading.problems.map(
      (problem) =>
        `  ! ${problem.param} ${problem.issue}; allowed: ${JSON.stringify(problem.allowed)}; got: ${JSON.stringify(problem.got ?? null)}`,
    ),
    ...reading.ignored.map((name) => `  ! ${name} is unknown and would be ignored`),
    ...Object.entries(reading.suggestion).map(([name, meant]) => `  ? ${name}: perhaps ${meant}`),
  ];
  return lines.join('\n');
}
