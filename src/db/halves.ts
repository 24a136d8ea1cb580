/** Parts of a list that one statement each is sent about, side by side: of two processors a lone caller then has both. */
const HALVES = [0, 1];

/** SQL condition: a text is of the half with this number. */
export const inHalf = (text: string, half: string): string => `hashtext(${text}) & 1 = ${half}`;

/** Rows of both halves, asked at once. */
export const listHalves = async <Row>(listHalf: (half: number) => Promise<Row[]>): Promise<Row[]> =>
  (await Promise.all(HALVES.map(listHalf))).flat();

/** Shorter lists are asked about at once: a second statement costs more than it saves. */
const LONG_LIST = 40;

/** Rows about all items of a list, asked about in two halves of it where it is long. */
export async function listInHalves<Item, Row>(items: readonly Item[], listSome: (some: readonly Item[]) => Promise<Row[]>): Promise<Row[]> {
  if (items.length < LONG_LIST) return listSome(items);
  const middle = items.length >> 1;
  return (await Promise.all([listSome(items.slice(0, middle)), listSome(items.slice(middle))])).flat();
}
