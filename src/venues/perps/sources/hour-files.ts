import { UpstreamError, persistently, request } from '../../../workers/upstream';

/** Files of a node that grow while they are read, served as they lie on its disk. */
export interface HourFiles {
  /**
   * What is in a file from a byte on, `most` bytes at most; null: there is no such file. Asks again where that
   * may help. Throws UpstreamError, or the signal's reason.
   */
  read(path: string, offset: number, most: number, signal: AbortSignal): Promise<Buffer | null>;
}

const TIMEOUT_MS = 30_000;
/** How often one request is sent at most. */
const ATTEMPTS = 4;

/** Files below a base URL; ranges are asked for, and cut out where the server does not know them. */
export function filesAt(url: string): HourFiles {
  const base = url.replace(/\/+$/, '');
  const host = new URL(base).host;
  return {
    read(path, offset, most, signal) {
      const where = `${host}${path}`;
      // Ranges are of the file's own bytes.
      const headers = { range: `bytes=${offset}-${offset + most - 1}`, 'accept-encoding': 'identity' };
      const read = (response: Response): Promise<Buffer | null> | undefined => {
        if (response.status === 404) return Promise.resolve(null);
        // Nothing has been written beyond what is read.
        if (response.status === 416) return Promise.resolve(Buffer.alloc(0));
        if (!response.ok) return undefined;
        if (isPage(response)) throw new UpstreamError(`${where} answered a web page`, null);
        return piece(response, response.status === 206 ? 0 : offset, most);
      };
      return persistently(ATTEMPTS, () => request(where, `${base}${path}`, { headers }, TIMEOUT_MS, signal, read), signal);
    },
  };
}

/** A proxy's own words in place of the file: read as lines, they would move its reader on by their length. */
const isPage = ({ headers }: Response): boolean => /^text\/html\b/i.test(headers.get('content-type') ?? '');

/** The body's bytes from `skip` on, `most` at most. */
async function piece(response: Response, skip: number, most: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let [passed, size] = [0, 0];
  for await (const chunk of (response.body ?? []) as unknown as AsyncIterable<Uint8Array>) {
    const own = chunk.subarray(Math.min(Math.max(0, skip - passed), chunk.length));
    passed += chunk.length;
    chunks.push(own);
    size += own.length;
    // Leaving the loop cancels the stream.
    if (size >= most) break;
  }
  return Buffer.concat(chunks).subarray(0, most);
}
