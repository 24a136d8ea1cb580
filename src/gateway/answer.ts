import type { Response } from 'express';
import { AppError } from '../errors';
import { type Format, MEDIA_TYPES } from '../endpoints/endpoint';
import { jsonPieces } from '../lib/json-pieces';
import { selectFields, toCsv, toNdjson } from './formats';

/** A sold answer, or an error of any public path: nothing else writes these. */
export type Answer =
  | {
      kind: 'data';
      data: unknown;
      meta: Record<string, unknown>;
      headers: Record<string, string>;
      fields: readonly string[] | null;
      format: Format;
    }
  | {
      kind: 'error';
      error: AppError;
      charged: false | 'pending';
      headers: Record<string, string | string[]>;
      extra?: Record<string, unknown>;
    };

/** Any thrown value as an error the consumer may see. */
export function asAppError(thrown: unknown): AppError {
  return thrown instanceof AppError ? thrown : new AppError('internal', { cause: thrown });
}

/** Writes the answer. `request_id` is the response's X-Request-Id, set before anything else. */
export function sendAnswer(response: Response, answer: Answer): void {
  if (answer.kind === 'data') sendData(response, answer);
  else sendError(response, answer);
}

function sendData(response: Response, answer: Answer & { kind: 'data' }): void {
  const data = answer.fields === null ? answer.data : selectFields(answer.data, answer.fields);
  response.status(200).set(answer.headers).set('Cache-Control', 'private').type(MEDIA_TYPES[answer.format]);
  if (answer.format === 'json') {
    const pieces = jsonPieces({ data, meta: answer.meta });
    response.send(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
    return;
  }
  for (const [name, value] of Object.entries(answer.meta)) {
    if (value !== null) response.set(metaHeader(name), headerText(value));
  }
  response.send(answer.format === 'csv' ? toCsv(data as Record<string, unknown>[]) : toNdjson(data));
}

/** The header that holds a field of `meta` where the body has no place for it: `X-Meta-next-cursor`. */
export const metaHeader = (name: string): string => `X-Meta-${name.replace(/_/g, '-')}`;

/** Clients refuse answers whose headers are longer than some thousand characters together. */
const LONGEST_HEADER = 2_000;
/** Room for the brackets, and for the words in place of what is left out. */
const LIST_ENDS = 40;

function headerText(value: unknown): string {
  if (typeof value === 'string') return asciiOf(value);
  return asciiOf(JSON.stringify(Array.isArray(value) ? fitting(value) : value));
}

/** Header values are visible ASCII: in JSON the rest has another spelling. */
const asciiOf = (text: string): string => text.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The first items of a list that a header holds, and how many there are beyond them: whole items, so that it stays JSON. */
function fitting(items: readonly unknown[]): readonly unknown[] {
  let length = LIST_ENDS;
  const kept = items.findIndex((item) => (length += asciiOf(JSON.stringify(item)).length + 1) > LONGEST_HEADER);
  return kept === -1 ? items : [...items.slice(0, kept), `… and ${items.length - kept} more`];
}

function sendError(response: Response, answer: Answer & { kind: 'error' }): void {
  const { error } = answer;
  const { context } = error;
  response.locals.code = error.code;
  response.status(error.status).set('Cache-Control', 'no-store').set(answer.headers);
  if (context.retry_after_s !== undefined) response.set('Retry-After', String(context.retry_after_s));
  const body = {
    error: error.message,
    code: error.code,
    reason: context.reason ?? null,
    request_id: response.get('X-Request-Id') ?? null,
    charged: answer.charged,
    details: context.details ?? [],
    retry_after_s: context.retry_after_s ?? null,
    fallback: context.fallback ?? null,
    suggestion: context.suggestion ?? null,
    ...answer.extra,
  };
  response.type('application/json').send(JSON.stringify(body));
}
