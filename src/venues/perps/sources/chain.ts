import { addTo } from '../../../lib/grouped';

/** What the order of fills depends on: the signed position before the fill, and the change it makes. */
export interface Link {
  start: number;
  delta: number;
}

// The upstream's positions carry float noise of this relative size.
const TOLERANCE = 1e-9;

/**
 * Order of fills of one account in one coin at one instant: each starts where the one before it ended. Takes them in the
 * order given, returns their indexes in chain order; the order given, where they make no single chain (some are missing).
 */
export function chainOrder(links: readonly Link[]): number[] {
  const given = links.map((_, index) => index);
  if (links.length < 2 || isChain(links, given)) return given;
  const node = nodesOf(links);
  const leaving = new Map<number, number[]>();
  const balance = new Map<number, number>();
  for (const index of [...given].reverse()) {
    const { start, delta } = links[index] as Link;
    const [from, to] = [node(start), node(start + delta)];
    addTo(leaving, from, index);
    balance.set(from, (balance.get(from) ?? 0) + 1);
    balance.set(to, (balance.get(to) ?? 0) - 1);
  }
  const heads = given.map((index) => node((links[index] as Link).start)).filter((at) => (balance.get(at) ?? 0) > 0);
  const order = eulerPath(heads[0] ?? node((links[0] as Link).start), leaving, (index) =>
    node((links[index] as Link).start + (links[index] as Link).delta),
  );
  return order.length === links.length && isChain(links, order) ? order : given;
}

/** Hierholzer's algorithm: a walk that uses every edge once; edges that leave a node are taken from the end of its list. */
function eulerPath(head: number, leaving: Map<number, number[]>, target: (edge: number) => number): number[] {
  const path: number[] = [];
  const stack: { at: number; edge: number | null }[] = [{ at: head, edge: null }];
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    const edge = leaving.get(top.at)?.pop();
    if (edge !== undefined) stack.push({ at: target(edge), edge });
    else {
      stack.pop();
      if (top.edge !== null) path.push(top.edge);
    }
  }
  return path.reverse();
}

/** Whether each of these links, in their order or another, starts where the one before it ended. */
export function isChain(links: readonly Link[], order: readonly number[] = links.map((_, index) => index)): boolean {
  const scale = scaleOf(links);
  return order.every((index, place) => {
    const before = links[order[place - 1] ?? -1];
    return before === undefined || Math.abs(before.start + before.delta - (links[index] as Link).start) <= TOLERANCE * scale;
  });
}

/** Positions that differ by noise only are one node, named by the smallest of them. */
function nodesOf(links: readonly Link[]): (position: number) => number {
  const scale = scaleOf(links);
  const names = new Map<number, number>();
  let name = Number.NEGATIVE_INFINITY;
  let last = Number.NEGATIVE_INFINITY;
  for (const position of links.flatMap(({ start, delta }) => [start, start + delta]).sort((a, b) => a - b)) {
    if (position - last > TOLERANCE * scale) name = position;
    names.set(position, name);
    last = position;
  }
  return (position) => names.get(position) as number;
}

function scaleOf(links: readonly Link[]): number {
  return links.reduce((most, { start, delta }) => Math.max(most, Math.abs(start), Math.abs(delta)), 0);
}
