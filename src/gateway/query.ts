import type { Request } from 'express';

/** The query as it was sent, with its question mark. What stands before it may be a whole URL: proxies send such. */
export const searchOf = ({ originalUrl }: Request): string => /\?.*/s.exec(originalUrl)?.[0] ?? '';

/** The parameters in a request's query, repeated ones and all. */
export const queryOf = (request: Request): URLSearchParams => new URLSearchParams(searchOf(request));
