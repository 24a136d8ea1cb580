/** Parts of a list that one statement each is sent about, side by side: of two processors a lone caller then has both. */
const HALVES = [0, 1];

/** SQL condition: a text is of the half with this number. */
export const inHalf = (text: string, half: string): string => `hashtext(${text}) & 1 = ${half}`;

/** Rows of both halves, asked at once. */
export const listHalves = async <Row>(listHalf: (half: number) => Promise<Row[]>): Promise<Row[]> =>
  (await Promise.all(HALVES.map(listHalf))).flat();

/** Shorter lists are asked about at once, unless their items are dear: a second statement costs more than it saves. */
const LONG_LIST = 40;

/** Rows, in no order, about all items of a list, asked about in two halves of it where it is long: every other item, since a ranking begins with the busiest. */
export async function listInHalves<Item, Row>(
  items: readonly Item[],
  listSome: (some: readonly Item[]) => Promise<Row[]>,
  long = LONG_LIST,
): Promise<Row[]> {
  if (items.length < long) return listSome(items);
  return listHalves((half) => listSome(items.filter((_item, place) => place % 2 === half)));
}
