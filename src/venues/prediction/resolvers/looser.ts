/** Parameters to send in place of those sent. */
type Change = Record<string, unknown>;

/**
 * The suggestion of an empty answer: the first of the changes that `find`, asked as changed, finds something by (it tells what is to be sent beside
 * it, undefined where nothing is found). Changes that are none to `args` are left out; the others are tried alone, then together. {} where all of
 * them bring nothing.
 */
export async function looser<Args extends object>(
  args: Args,
  changes: readonly Partial<Args>[],
  find: (asked: Args) => Promise<Change | undefined>,
): Promise<Change> {
  for (const change of combined(changes.map((one) => changed(args, one)).filter((one) => Object.keys(one).length > 0))) {
    const beside = await find({ ...args, ...change });
    if (beside !== undefined) return { ...change, ...beside };
  }
  return {};
}

/** What of a change is one; what was not sent is null. */
const changed = (args: object, change: object): Change =>
  Object.fromEntries(Object.entries(change).filter(([name, value]) => ((args as Change)[name] ?? null) !== value));

/** Each alone, then every two, and so on. */
function combined(changes: readonly Change[]): Change[] {
  const sets = changes.reduce<Change[][]>((before, change) => [...before, ...before.map((set) => [...set, change])], [[]]);
  const filled = sets.filter((set) => set.length > 0).sort((a, b) => a.length - b.length);
  return filled.map((set) => Object.assign({}, ...set) as Change);
}
