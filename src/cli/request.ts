import { type Config, publicUrlOf } from '../config';

/** A request as written on the command line. */
interface CommandLineRequest {
  method: 'GET' | 'POST';
  /** Path with query. */
  target: string;
  body: Record<string, unknown> | undefined;
}

/** Reads `[GET|POST] /path?query [--body '{…}']`. Throws one sentence with the usage. */
export function parseRequest(words: readonly string[], body: string | undefined, usage: string): CommandLineRequest {
  if (words.length > 2) throw new Error(`Unknown argument ${words[2]}. Usage: ${usage}`);
  const [first = '', second] = words;
  const [method, target] = second === undefined ? [body === undefined ? 'GET' : 'POST', first] : [first.toUpperCase(), second];
  if ((method !== 'GET' && method !== 'POST') || !target.startsWith('/')) throw new Error(`Usage: ${usage}`);
  if (method === 'GET' && body !== undefined) throw new Error('A GET has no --body: its parameters stand in the query.');
  return { method, target, body: body === undefined ? undefined : parseBody(body) };
}

function parseBody(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Falls through to the sentence below.
  }
  throw new Error(`--body must be one JSON object, not ${text.slice(0, 60)}`);
}

/** Where the shop is: at `--url`, else where the configuration has it. Throws one sentence when that is no URL. */
export function shopOf(url: string | undefined, config: Config): string {
  const base = url ?? publicUrlOf(config);
  if (!URL.canParse(base)) throw new Error(`--url must be a URL such as http://localhost:3000, not ${base}.`);
  return base;
}
