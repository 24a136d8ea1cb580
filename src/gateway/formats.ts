import { snakeCase } from '../endpoints/answer-shape';

// Ids stay in every row, whatever fields were asked for: without them a row cannot be told from another.
const IDS = new Set([
  'condition_id', 'token_id', 'wallet', 'trader', 'owner', 'coin', 'pool_address', 'position_address', 'token', 'token_mint',
  'tx_hash', 'tx_id', 'trade_id', 'rank', 'bucket', 'date', 'outcome', 'Owner', 'PoolAddress', 'PositionAddress', 'TxId',
]); // prettier-ignore

type Tree = Map<string, Tree>;

/** The fields by their parts, in snake case: one list may hold rows of both spellings. */
function treeOf(fields: readonly string[]): Tree {
  const root: Tree = new Map();
  const names = fields.map(snakeCase);
  // What is asked for whole is not narrowed by a part of it that is asked for too.
  for (const field of names.filter((one) => !names.some((other) => one.startsWith(`${other}.`)))) {
    let node = root;
    for (const part of field.split('.')) {
      const child = node.get(part) ?? (new Map() as Tree);
      node.set(part, child);
      node = child;
    }
  }
  return root;
}

function prune(value: unknown, tree: Tree): unknown {
  if (Array.isArray(value)) return value.map((item) => prune(item, tree));
  if (typeof value !== 'object' || value === null) return value;
  const kept: Record<string, unknown> = {};
  for (const [name, child] of Object.entries(value)) {
    const subtree = tree.get(snakeCase(name));
    if (subtree !== undefined) kept[name] = subtree.size === 0 ? child : prune(child, subtree);
    else if (IDS.has(name)) kept[name] = child;
  }
  return kept;
}

/** Keeps only `fields` of the rows (dot paths reach inside), and all ids. */
export function selectFields(data: unknown, fields: readonly string[]): unknown {
  return prune(data, treeOf(fields));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/** One line of cells. A lone empty cell is put in quotes, for readers pass over empty lines. */
const lineOf = (cells: readonly unknown[]): string => cells.map(cell).join(',') || '""';

/**
 * RFC 4180 text of rows; the header holds every name that occurs, nested values are JSON text. Values stay as they are, also those that a
 * spreadsheet would take for formulas: a quote before them would make negative numbers texts.
 */
export function toCsv(rows: readonly Record<string, unknown>[]): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return [names, ...rows.map((row) => names.map((name) => row[name]))].map((cells) => `${lineOf(cells)}\r\n`).join('');
}

/** One JSON value a line: the rows of a list, or the one object. */
export function toNdjson(data: unknown): string {
  return `${(Array.isArray(data) ? data : [data]).map((row) => JSON.stringify(row)).join('\n')}\n`;
}
