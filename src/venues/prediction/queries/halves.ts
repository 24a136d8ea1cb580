/** Parts of a list that one statement each is sent about, side by side: of two processors a lone caller then has both. */
const HALVES = [0, 1];

/** SQL condition: a text is of the half with this number. */
export const inHalf = (text: string, half: string): string => `hashtext(${text}) & 1 = ${half}`;

/** Rows of both halves, asked at once. */
export const listHalves = async <Row>(listHalf: (half: number) => Promise<Row[]>): Promise<Row[]> =>
  (await Promise.all(HALVES.map(listHalf))).flat();
