/** Statements that a Citus cluster refuses, by name, and what stands in the way. */
type Refused = Readonly<Record<string, string>>;

/** Each was refused by Citus 13.2 on PostgreSQL 15; all other statements of questions, and all that load and score, do there as on one PostgreSQL. */
export const REFUSED_QUESTIONS: Refused = {
  pm_copy_within: 'counts the hours of each wallet of a list only as far as they are few; they stand by market',
  pm_shared_sides: 'reads all that wallets of a list hold of each market of another step of the statement, what comes with it included',
  pm_told_gains:
    'sums the positions of wallets that stand by wallet, before an instant or after it, whichever are fewer; they stand by market',
};
