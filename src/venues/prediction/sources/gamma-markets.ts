import type { RecordedSource } from '../../../workers/source';
import { type CatalogueMarket, decodeGammaMarket, looksLikeGamma, marketsWithin } from './gamma-market';
import { readPage } from './reading';
import { isUnusable } from './record';
import { writeMarkets } from './write-markets';

/** The catalogue: Gamma `/markets` and `/events` objects, as arrays, one a line, or pages of them. A changed description counts as inserted. */
export const gammaMarkets: RecordedSource = {
  name: 'prediction.markets',
  recognises: (first) => looksLikeGamma(first),
  load: (page, client, options) =>
    readPage<CatalogueMarket>(page, client, options, {
      name: 'prediction.markets',
      *decode(record, reasons) {
        for (const { market, event } of marketsWithin(record)) {
          const decoded = decodeGammaMarket(market, event);
          if (isUnusable(decoded)) reasons.add(decoded.skip);
          else yield decoded;
        }
      },
      write: (markets, into) => writeMarkets(markets, into, options.rollups),
      timeOf: (market) => market.updated_at,
    }),
};
