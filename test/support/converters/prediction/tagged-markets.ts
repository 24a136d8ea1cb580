/** A row of markets-resolved-tagged: a settled market with its tags, without tokens. */
export interface TaggedMarket {
  conditionId: string;
  question: string;
  createdAt: string;
  endDate: string;
  closedTime: string;
  volume: number;
  outcomes: string;
  outcomePrices: string;
  tags: string[];
  resolvedOutcome: string;
}

/** The row as a market object of Gamma. */
export function marketOfTagged(row: TaggedMarket): Record<string, unknown> {
  const { resolvedOutcome: _, tags, ...market } = row;
  return { ...market, closed: true, active: true, enableOrderBook: true, tags: tags.map((slug) => ({ slug, label: slug })) };
}
