import { type Query, type Upstream, UpstreamError } from '../../../workers/upstream';
import { decodeInstant } from './instant';
import { isFields } from './record';

/** Gamma caps a page of markets at 100 and refuses offsets beyond 10,000. */
export const PAGE = 100;
const OFFSET_CAP = 10_000;

/** What an upstream answers where it does not serve a path, or not with such a question. */
const NOT_SERVED: readonly UpstreamError['status'][] = [404, 410, 422];

/** Why a listing ended before all of it was told; null: it did not. */
type EndedEarly = 'beyond_offset_cap' | 'same_page_again' | null;

/**
 * Listings of markets. The venue replaces those by offset (`/markets`) by those by cursor (`/markets/keyset`): these are asked, and the others
 * where they are not served. What one question has told of that holds for the object's others.
 */
export class MarketsListing {
  private byCursor = true;

  constructor(
    private readonly gamma: Upstream,
    private readonly signal: AbortSignal,
  ) {}

  /** Pages of at most `PAGE` markets, tags included, none of them empty. Throws UpstreamError. */
  async *pages(query: Query): AsyncGenerator<unknown[], EndedEarly> {
    const asked = { ...query, limit: PAGE, include_tag: true };
    const first = this.byCursor ? await this.firstByCursor(asked) : null;
    this.byCursor = first !== null;
    return first === null ? yield* this.onByOffset(asked) : yield* this.onByCursor(asked, first);
  }

  /** Null where it is not served, or not in the order asked for: an end of what is new would be found too early. */
  private async firstByCursor(query: Query): Promise<CursorPage | null> {
    try {
      const page = cursorPage(await this.gamma.get('/markets/keyset', query, this.signal));
      return query.order === 'updatedAt' && !isNewestFirst(page.markets) ? null : page;
    } catch (error) {
      if (error instanceof UpstreamError && NOT_SERVED.includes(error.status)) return null;
      throw error;
    }
  }

  private async *onByCursor(query: Query, first: CursorPage): AsyncGenerator<unknown[], EndedEarly> {
    for (let page = first; page.markets.length > 0;) {
      yield page.markets;
      if (page.next === null) return null;
      const before = page;
      page = cursorPage(await this.gamma.get('/markets/keyset', { ...query, after_cursor: page.next }, this.signal));
      // A cursor without effect begins the listing again.
      if (page.next === before.next || (page.markets.length > 0 && idOf(page.markets[0]) === idOf(before.markets[0])))
        return 'same_page_again';
    }
    return null;
  }

  private async *onByOffset(query: Query): AsyncGenerator<unknown[], EndedEarly> {
    for (let offset = 0; offset <= OFFSET_CAP; offset += PAGE) {
      const markets = await this.gamma.get('/markets', { ...query, offset }, this.signal);
      if (!Array.isArray(markets)) throw new UpstreamError('/markets did not answer with a list', null);
      if (markets.length === 0) return null;
      yield markets as unknown[];
    }
    return 'beyond_offset_cap';
  }
}

interface CursorPage {
  markets: unknown[];
  /** Where the next page begins; null: this is the last. */
  next: string | null;
}

function cursorPage(answer: unknown): CursorPage {
  if (!isFields(answer) || !Array.isArray(answer.markets)) throw new UpstreamError('/markets/keyset did not answer with markets', null);
  const { markets, next_cursor } = answer;
  return { markets: markets as unknown[], next: typeof next_cursor === 'string' && next_cursor !== '' ? next_cursor : null };
}

const idOf = (market: unknown): unknown => (isFields(market) ? market.id : undefined);

function isNewestFirst(markets: readonly unknown[]): boolean {
  const times = markets.flatMap((market) => (isFields(market) ? (decodeInstant(market.updatedAt)?.getTime() ?? []) : []));
  return times.every((time, i) => i === 0 || time <= (times[i - 1] as number));
}
