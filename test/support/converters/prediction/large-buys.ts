/** A row of trades-large-buys: buys of 500 USD and more, without token, share size and transaction. */
export interface LargeBuy {
  market_id: string;
  wallet: string;
  outcome: string;
  trade_size_usd: number;
  timestamp: number;
  username: string | null;
  market_title: string;
  event_slug: string;
  price: number;
}

/** Token of each outcome name, by condition id. */
export type TokenMap = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Tokens of catalogue objects, whose lists are JSON text. */
export function tokensOf(markets: Iterable<Record<string, unknown>>): TokenMap {
  const map = new Map<string, Map<string, string>>();
  for (const market of markets) {
    const tokens = JSON.parse((market.clobTokenIds as string | null) ?? '[]') as string[];
    const outcomes = JSON.parse(market.outcomes as string) as string[];
    if (tokens.length === outcomes.length)
      map.set(market.conditionId as string, new Map(outcomes.map((outcome, index) => [outcome, tokens[index] as string])));
  }
  return map;
}

/** The row as `/trades` would serve it, or null where the catalogue does not tell its token. */
export function tradeOfLargeBuy(row: LargeBuy, tokens: TokenMap): Record<string, unknown> | null {
  const outcomes = tokens.get(row.market_id);
  const asset = outcomes?.get(row.outcome);
  if (outcomes === undefined || asset === undefined) return null;
  return {
    proxyWallet: row.wallet,
    side: 'BUY',
    asset,
    conditionId: row.market_id,
    size: Number((row.trade_size_usd / row.price).toFixed(6)),
    price: row.price,
    timestamp: row.timestamp,
    title: row.market_title,
    eventSlug: row.event_slug,
    outcome: row.outcome,
    outcomeIndex: [...outcomes.keys()].indexOf(row.outcome),
    name: row.username ?? '',
  };
}
