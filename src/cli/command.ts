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
  const options: Record<string, string> = {};
  const words: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    if (arg === '--help' || arg === '-h') throw new Help(`Usage: ${usage}`);
    if (!arg.startsWith('--')) {
      words.push(arg);
      continue;
    }
    const [name, inline] = arg.slice(2).split(/=(.*)/s, 2) as [string, string | undefined];
    if (!allowed.includes(name)) throw new Error(`Unknown option --${name}. Usage: ${usage}`);
    const value = inline ?? args[(index += 1)];
    if (value === undefined) throw new Error(`--${name} needs a value. Usage: ${usage}`);
    options[name] = value;
  }
  return { options, words };
}

/** The options of a command that takes nothing else. Throws on other words too: a slip of the pen must not do long work. */
export function parseOptions(args: readonly string[], allowed: readonly string[], usage: string): Record<string, string> {
  const { options, words } = parseArguments(args, allowed, usage);
  if (words.length > 0) throw new Error(`Unknown argument ${words[0]}. Usage: ${usage}`);
  return options;
}
