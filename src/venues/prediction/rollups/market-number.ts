/** SQL of a market's number, by which it is told where wallets belong and what they put in: ids are long. Markets have an index of it. */
export const marketNumber = (condition_id: string): string => `hashtextextended(${condition_id}, 0)`;
