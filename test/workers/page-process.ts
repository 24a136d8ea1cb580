import { Pool } from 'pg';
import { pagesOf } from '../support/world-pages';
import type { FromReader, ReaderOrders } from './reader';
import { loadPage } from '../support/load-page';

// A process that loads the pages of a simulated world until it is killed, or done.

const tell = (message: FromReader): void => void process.send?.(message);

async function loadPages({ database_url, venue, now, world }: ReaderOrders): Promise<void> {
  const { from_page, start, ...options } = world as NonNullable<ReaderOrders['world']>;
  const pages = await pagesOf(venue, { ...options, start: new Date(start) }, new Date(now));
  const pool = new Pool({ connectionString: database_url, max: 2 });
  tell({ at: 'reading' });
  for (const [number, { source, page }] of pages.entries()) {
    if (number < from_page) continue;
    await loadPage(pool, venue, source, page(), { progress: () => undefined });
    tell({ at: 'page', page: number });
  }
  tell({ at: 'done' });
}

process.on('message', (orders: ReaderOrders) => void loadPages(orders));
tell({ at: 'ready' });
