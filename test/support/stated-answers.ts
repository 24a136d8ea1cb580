import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';

type Json = Record<string, unknown>;

/** A description with what it refers to in its place. */
export function withoutReferences(description: Json): unknown {
  const follow = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(follow);
    if (!('$ref' in value)) return mapped(value as Json, follow);
    const [root, ...steps] = String(value.$ref).split('/');
    const found = steps.reduce<unknown>((whole, step) => (whole as Json)[step], description);
    if (root !== '#' || found === undefined) throw new Error(`${String(value.$ref)} refers to nothing.`);
    return follow(found);
  };
  return follow(description);
}

const mapped = (object: Json, change: (value: unknown) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

/** The schema in which every field that it does not tell of is wrong. A part of a whole is closed with the whole. */
function closed(schema: unknown, part = false): unknown {
  if (Array.isArray(schema)) return schema.map((one) => closed(one, part));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties, allOf, ...rest } = schema as Json;
  const whole: Json = { ...rest };
  for (const name of ['items', 'additionalProperties', 'oneOf', 'anyOf']) if (name in whole) whole[name] = closed(whole[name]);
  if (properties !== undefined) whole.properties = mapped(properties as Json, (one) => closed(one));
  if (allOf !== undefined) return { ...whole, type: 'object', allOf: closed(allOf, true), unevaluatedProperties: false };
  return properties === undefined || part || 'additionalProperties' in whole ? whole : { ...whole, additionalProperties: false };
}

/** Where the JSON of an answer is not as stated: places and what is wrong there. */
export type Unstated = (method: string, path: string, status: number, body: unknown) => string[];

/** Compares answers with what an OpenAPI description states for their path and status. */
export function statedBy(description: Json): Unstated {
  const ajv = new Ajv2020({ allErrors: true, allowUnionTypes: true, validateFormats: false });
  const known = new Map<string, ValidateFunction>();
  const { paths } = withoutReferences(description) as {
    paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, { schema: unknown }> }> }>>;
  };
  return (method, path, status, body) => {
    const responses = paths[path]?.[method.toLowerCase()]?.responses ?? {};
    const name = [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((one) => one in responses) ?? 'none';
    const key = `${method} ${path} ${name}`;
    const validate = known.get(key) ?? ajv.compile(closed(responses[name]?.content['application/json']?.schema) as Json);
    known.set(key, validate);
    if (validate(body)) return [];
    const wrong = (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath.replace(/\d+/g, '#')} ${message ?? ''} ${JSON.stringify(params)}`,
    );
    return [...new Set(wrong)];
  };
}
