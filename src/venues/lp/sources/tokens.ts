import type { RecordedSource } from '../../../workers/source';
import type { TokenRow } from '../store/rows';
import { loadPage, type PageLoad, type Write } from './page-load';
import { address, amount, decimalsOf, isObject, type Json, text, timeInName } from './record';

/** Token lists: rows of mint (`address`, in newer lists `id`), symbol, name, decimals; newer ones state a price. */
export const tokens: RecordedSource = {
  name: 'lp.tokens',
  recognises: (first) => isToken(first),
  load: (page, client, options) => loadPage('lp.tokens', page, client, options, readTokens),
};

const mintOf = (token: Json): string | null => address(token.address) ?? address(token.id) ?? address(token.mint);

const isToken = (token: unknown): token is Json =>
  isObject(token) && 'symbol' in token && 'name' in token && 'decimals' in token && mintOf(token) !== null;

function readTokens(records: unknown[], { page, log, writer }: PageLoad): Write {
  const asOf = timeInName(page.name);
  if (asOf !== null) log.times.as_of = asOf;
  const rows: TokenRow[] = [];
  const prices: { mint: string; usd: string; at: Date }[] = [];
  for (const record of records) {
    const decimals = isToken(record) ? decimalsOf(record.decimals) : null;
    if (!isToken(record) || decimals === null) {
      log.skip('unusable_token');
      continue;
    }
    const mint = mintOf(record) as string;
    rows.push({ mint, symbol: text(record.symbol), name: text(record.name), decimals, quality: 3 });
    const usd = amount(record.usdPrice);
    if (usd !== null && Number(usd) > 0 && asOf !== null) prices.push({ mint, usd, at: asOf });
  }
  log.read += rows.length;
  return () => writer.tokenList(rows, prices);
}
