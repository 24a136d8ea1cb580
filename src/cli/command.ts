import { parseArgs } from 'node:util';

/** Where the program stands. */
export interface Place {
  /** Folder of package.json. */
  root: string;
  version: string;
}

/** One command of the program: its arguments in, its exit code out. Throws an Error whose message is one clear sentence. */
export type Command = (args: readonly string[], place: Place) => Promise<number>;

/** Not an error: somebody asked what the command takes, and its message tells it. */
export class Help extends Error {}

/** `--name value` and `--name=value` options and the other words. Throws on options that are not `allowed`, and Help for `--help`. */
export function parseArguments(
  args: readonly string[],
  allowed: readonly string[],
  usage: string,
): { options: Record<string, string>; words: string[] } {
  const known = Object.fromEntries(allowed.map((name) => [name, { type: 'string' as const }]));
  const options = { ...known, help: { type: 'boolean' as const, short: 'h' } };
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    // Its first sentence: the others are about dashes.
    throw new Error(`${(error as Error).message.split(/\.\s/)[0]}. Usage: ${usage}`, { cause: error });
  }
  const { help, ...given } = parsed.values;
  if (help === true) throw new Help(`Usage: ${usage}`);
  return { options: given as Record<string, string>, words: parsed.positionals };
}

/** The options of a command that takes nothing else. Throws on other words too: a slip of the pen must not do long work. */
export function parseOptions(args: readonly string[], allowed: readonly string[], usage: string): Record<string, string> {
  const { options, words } = parseArguments(args, allowed, usage);
  if (words.length > 0) throw new Error(`Unknown argument ${words[0]}. Usage: ${usage}`);
  return options;
}
