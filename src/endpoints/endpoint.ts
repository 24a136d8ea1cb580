import type { DocumentNode } from 'graphql';
import type { VenueName } from '../lib/venue-name';
import type { AnswerShape } from './answer-shape';

/** A parameter's value once read: canonical, ready to be a GraphQL variable. */
export type Value = string | number | boolean | readonly string[] | null;

/** One parameter of an endpoint, as its document declares it. */
export interface Parameter {
  name: string;
  /** Named GraphQL type: Int, Float, Boolean, String, an enum, or a scalar of base.graphql. */
  type: string;
  list: boolean;
  required: boolean;
  /** Undefined where there is none: the parameter may be left out, or must be sent. */
  default: Value | undefined;
  /** Bounds of the number, of the string's length, or of the number of items. */
  min: number | null;
  max: number | null;
  /** Canonical spellings, where only these are allowed. */
  choices: readonly string[] | null;
  /** Price factor while the filter is active, as the decimal literal of the document. */
  filter: { factor: string; unless: string | null } | null;
  pricedLimit: boolean;
  aliases: readonly string[];
  /** What it means, in the words of the root field's argument; the document's note adds what a buyer must know. */
  meaning: string;
  note: string | null;
  sample: string | null;
}

export type Tier = 'light' | 'medium' | 'heavy' | 'whale';

/** A paid endpoint: one document under graphql/endpoints, checked and ready. */
export interface Endpoint {
  /** File path below graphql/endpoints without extension: `markets/trending`. */
  name: string;
  /** URL path: `/api/v1/markets/trending`. */
  path: string;
  method: 'GET' | 'POST';
  venue: VenueName;
  tier: Tier;
  summary: string;
  /** Cache class in seconds. */
  fresh: number;
  /** Field of Query that answers it: `marketsTrending`. */
  rootField: string;
  document: DocumentNode;
  answer: AnswerShape;
  parameters: readonly Parameter[];
  /** Of each group at least one parameter must be sent. */
  oneOfRequired: readonly (readonly string[])[];
}

const FORMATS = ['json', 'csv', 'ndjson'] as const;
export type Format = (typeof FORMATS)[number];

/** What an answer in each format is called on the wire. */
export const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  csv: 'text/csv',
  ndjson: 'application/x-ndjson',
};

/** Formats in which an endpoint answers: csv is for lists of rows. */
export const formatsOf = ({ answer }: Endpoint): readonly Format[] => FORMATS.filter((format) => format !== 'csv' || answer.table);

/** A parameter in words: what it means, and what its document adds. */
export const toldOf = ({ meaning, note }: Parameter): string => (note === null ? meaning : `${meaning.replace(/\.$/, '')}; ${note}`);

/** A value that satisfies the parameter: its document's sample, else its default. Undefined where none is declared. */
export function sampleOf(parameter: Parameter): Value | undefined {
  if (parameter.sample === null) return parameter.default;
  if (parameter.list) return parameter.sample.split(',');
  if (parameter.type === 'Int' || parameter.type === 'Float') return Number(parameter.sample);
  return parameter.sample;
}
