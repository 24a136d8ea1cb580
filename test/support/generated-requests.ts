import fc from 'fast-check';
import type { Endpoint, Parameter } from '../../src/endpoints/endpoint';
import { namesOf } from '../../src/endpoints/read';
import { CATEGORIES } from '../../src/lib/category';
import { DCA_TIMEFRAMES, TIMEFRAMES } from '../../src/lib/timeframe';
import { type Subjects, fitting } from './subjects';

/** A request as it goes over the wire, and the name of the endpoint it is for. */
export interface GeneratedRequest {
  endpoint: string;
  method: Endpoint['method'];
  /** Path and query. */
  target: string;
  body: string | undefined;
}

type Sent = readonly (readonly [string, unknown])[];

const HOSTILE = [
  '', ' ', '0', '-0', '-1', '1e9', '1e309', '-1e309', '0x10', '1_000', ' 5', '５', '٣', '9007199254740993', '1'.repeat(400), 'NaN', 'Infinity', 'null', 'undefined', 'true', '[]', '{}',
  "' OR 1=1 --", "'; DROP TABLE pm_trade; --", '$1', '%', '_', '%%%', '\\', '\\%', '*', '(', '[a-', '\u0000', 'a\u0000b', '\ud800', '\udfff', '\uffff', '🐋', 'ﬀ', 'İ', 'ǅ', 'ß', '\u202e', '\r\nX-Header: 1',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', '../../etc/passwd', '${7*7}', '<script>', 'a & b | !c:*', '"', "''", '0'.repeat(64), `0x${'g'.repeat(40)}`, `0X${'A'.repeat(40)}`, `0x${'A'.repeat(64)}`, '1'.repeat(32), 'BTC-USDC', 'btc,', ',', ',,,', 'all', 'today', '1D', 'x'.repeat(257), 'x'.repeat(3_000),
] as const; // prettier-ignore

const hex = (digits: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdefABCDEF'), minLength: digits, maxLength: digits }).map((text) => `0x${text}`);
const base58 = fc.string({
  unit: fc.constantFrom(...'123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'),
  minLength: 32,
  maxLength: 44,
});
const FORMED: Record<string, fc.Arbitrary<string>> = {
  EvmAddress: hex(40),
  ConditionId: hex(64),
  TokenId: fc.bigInt({ min: 0n, max: 10n ** 78n - 1n }).map(String),
  Base58: base58,
  Coin: fc.constantFrom('BTC', 'btc', 'kPEPE', 'xyz:CL', 'ETH', 'NOSUCH', 'HYPE'),
  Timeframe: fc.constantFrom(...TIMEFRAMES),
  DcaTimeframe: fc.constantFrom(...DCA_TIMEFRAMES),
  Category: fc.constantFrom(...CATEGORIES, 'geopolitics', 'ai'),
  Boolean: fc.boolean().map(String),
  Cursor: fc.base64String({ minLength: 1, maxLength: 80 }).map((text) => text.replace(/[+/=]/g, '-')),
  String: fc.oneof(fc.constantFrom('Yes', 'No', 'SOL', 'Will', 'BTC', 'the'), fc.string({ minLength: 1, maxLength: 40 })),
};

/** One value that the parameter's declaration allows, as text. */
function valid(parameter: Parameter, subjects: Subjects): fc.Arbitrary<string> {
  const { choices, type, min, max } = parameter;
  const known = fitting(parameter, subjects)?.slice(0, 10);
  if (choices) return fc.constantFrom(...choices);
  if (type === 'Int' && !parameter.list) {
    const [low, high] = [min as number, max as number];
    return fc.oneof(fc.constantFrom(low, high), fc.integer({ min: low, max: Math.min(high, low + 100) })).map(String);
  }
  if (type === 'Float') {
    const [low, high] = [min as number, max as number];
    return fc.oneof(fc.constantFrom(low, high), fc.double({ min: low, max: Math.min(high, low + 1_000), noNaN: true })).map(String);
  }
  const formed = FORMED[type] ?? fc.string({ minLength: 1, maxLength: 20 });
  return known !== undefined && known.length > 0 ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, formed) : formed;
}

/** Inputs that are right in every parameter; each that may be left out is there half the time. */
export function validInputs({ parameters }: Endpoint, subjects: Subjects): fc.Arbitrary<Record<string, unknown>> {
  const asked = parameters.map((parameter) => {
    const one = valid(parameter, subjects);
    const [minLength, maxLength] = [parameter.min ?? 0, Math.min(parameter.max ?? 0, (parameter.min ?? 0) + 5)];
    const value: fc.Arbitrary<unknown> = parameter.list ? fc.uniqueArray(one, { minLength, maxLength }) : one;
    return parameter.required ? value : fc.option(value, { nil: undefined, freq: 2 });
  });
  return fc
    .tuple(...asked)
    .map((values) =>
      Object.fromEntries(parameters.map(({ name }, index) => [name, values[index]]).filter(([, value]) => value !== undefined)),
    );
}

/** A value that may be anything: just outside the bounds, of another type, or hostile. */
function odd(parameter: Parameter): fc.Arbitrary<unknown> {
  const { min, max } = parameter;
  const edges = min === null || max === null ? [0] : [min - 1, max + 1, min - 1e-9, max * 10, min + 0.5];
  return fc.oneof(
    fc.constantFrom<unknown>(...edges),
    fc.constantFrom<unknown>(...HOSTILE),
    fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { a: 1 }, Number.MAX_VALUE, -Number.MAX_VALUE, 5e-324, 2 ** 53),
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.jsonValue({ maxDepth: 2 }),
    fc.array(fc.constantFrom<unknown>(...HOSTILE), { maxLength: 6 }),
  );
}

/** How many values of ten are odd. */
type Oddness = 1 | 5;

function valuesOf(parameter: Parameter, subjects: Subjects, oddness: Oddness): fc.Arbitrary<unknown> {
  const one = valid(parameter, subjects);
  if (!parameter.list)
    return fc.oneof({ weight: 10 - oddness, arbitrary: one as fc.Arbitrary<unknown> }, { weight: oddness, arbitrary: odd(parameter) });
  const [min, max] = [parameter.min as number, parameter.max as number];
  const list = fc.uniqueArray(one, { minLength: min, maxLength: Math.min(max, min + 5) });
  return fc.oneof(
    { weight: 9 - oddness, arbitrary: list as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.array(one, { maxLength: max + 2 }) },
    { weight: oddness, arbitrary: odd(parameter) },
  );
}

/** What is sent for one parameter: usually nothing or one value; now and then an alias, or several at once. */
function sentFor(parameter: Parameter, endpoint: Endpoint, subjects: Subjects, oddness: Oddness): fc.Arbitrary<Sent> {
  const value = valuesOf(parameter, subjects, oddness);
  const once = value.map((one): Sent => [[parameter.name, one]]);
  const alias = fc.tuple(fc.constantFrom(...namesOf(parameter, endpoint)), value).map(([name, one]): Sent => [[name, one]]);
  const twice = fc.tuple(value, value).map(([one, other]): Sent => [[parameter.name, one], [parameter.name, other]]); // prettier-ignore
  return fc.oneof(
    { weight: parameter.required ? 1 : 12, arbitrary: fc.constant<Sent>([]) },
    { weight: 16, arbitrary: once },
    { weight: 1, arbitrary: alias },
    { weight: 1, arbitrary: twice },
  );
}

const UNKNOWN: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Sent>([]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.oneof(fc.constantFrom('colour', 'limt', '__proto__', 'constructor', 'offset', ''), fc.string({ maxLength: 12 })), fc.constantFrom<unknown>(...HOSTILE))
      .map((one): Sent => [one]),
  },
); // prettier-ignore

const PRESENTATION: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 12, arbitrary: fc.constant<Sent>([]) },
  { weight: 3, arbitrary: fc.constantFrom('json', 'csv', 'ndjson', 'CSV').map((format): Sent => [['format', format]]) },
  { weight: 1, arbitrary: fc.constantFrom<unknown>('xml', '', ['json', 'csv'], 7, null).map((format): Sent => [['format', format]]) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<unknown>('wallet,price', 'a.b.c', 'pool_address', '__proto__', 'a..b', '*', ',', ['price'], 7).map((fields): Sent => [['fields', fields]]),
  },
); // prettier-ignore

/** What a value looks like in a query string: lists are comma separated, objects are their JSON. */
function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join(',');
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

function toQuery(sent: Sent): string {
  return sent.map(([name, value]) => `${encode(name)}=${encode(asText(value))}`).join('&');
}

/** Lone surrogates have no percent-encoding: they go as the bytes a broken client would send. */
const encode = (text: string): string => (/\p{Surrogate}/u.test(text) ? '%ED%A0%80' : encodeURIComponent(text));

/** Numbers and booleans go as JSON has them, or as texts: both are common. */
function asJson(parameters: readonly Parameter[], sent: Sent, typed: boolean): string {
  const kinds = new Map(parameters.map((parameter) => [parameter.name, parameter.type]));
  const entries = sent.map(([name, value]) => {
    const kind = kinds.get(name);
    const natural = typed && typeof value === 'string' && (kind === 'Int' || kind === 'Float') && /^-?\d+(\.\d+)?$/.test(value);
    if (natural) return [name, Number(value)];
    return [name, typed && kind === 'Boolean' && (value === 'true' || value === 'false') ? value === 'true' : value];
  });
  // Repeated names stay repeated: JSON text may hold them.
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;
}

const BROKEN_BODIES = ['', '{', '[]', '7', '"x"', 'null', '{"a":1,}', '{"a":01}', '\ufeff{}', `{"wallet":${'['.repeat(2_000)}${']'.repeat(2_000)}}`, `{"a":"${'x'.repeat(17_000)}"}`, '{"__proto__":{"wallet":"x"}}', '{"wallet":"\\ud800"}'] as const; // prettier-ignore

const BROKEN_QUERIES = ['%', '%ZZ', '&&&', '==', '?', 'limit', '&limit=5&', 'limit[]=5', 'limit[$gt]=1', '=5'] as const;

function requestsFor(endpoint: Endpoint, subjects: Subjects, oddness: Oddness): fc.Arbitrary<GeneratedRequest> {
  const { name, path, method, parameters } = endpoint;
  const sent = fc
    .tuple(...parameters.map((parameter) => sentFor(parameter, endpoint, subjects, oddness)), UNKNOWN, PRESENTATION)
    .map((all): Sent => all.flat());
  const broken = method === 'GET' ? BROKEN_QUERIES : BROKEN_BODIES;
  const good = method === 'GET' ? sent.map(toQuery) : fc.tuple(sent, fc.boolean()).map(([all, typed]) => asJson(parameters, all, typed));
  return fc
    .oneof({ weight: 30, arbitrary: good }, { weight: 1, arbitrary: fc.constantFrom<string>(...broken) })
    .map((text) =>
      method === 'GET'
        ? { endpoint: name, method, target: text === '' ? path : `${path}?${text}`, body: undefined }
        : { endpoint: name, method, target: path, body: text },
    );
}

/** Requests for one of the endpoints: about every fifth is right in every parameter, the others are wrong in one or several. */
export function generatedRequests(endpoints: readonly Endpoint[], subjects: Subjects): fc.Arbitrary<GeneratedRequest> {
  const from = (oddness: Oddness): fc.Arbitrary<GeneratedRequest> =>
    fc.oneof(...endpoints.map((endpoint) => requestsFor(endpoint, subjects, oddness)));
  return fc.oneof({ weight: 1, arbitrary: from(1) }, { weight: 3, arbitrary: from(5) });
}
