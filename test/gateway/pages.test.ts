import path from 'node:path';
import { snakeCase } from '../../src/endpoints/answer-shape';
import { methodologyPage } from '../../src/gateway/pages/methodology';
import { docsPage } from '../../src/gateway/pages/reference';
import { makeSchema } from '../../src/graph/schema';
import { priceRange } from '../../src/pricing/catalog';
import { dollars } from '../../src/pricing/tiers';
import { ENDPOINTS, ROOT } from '../support/catalogue';

const schema = makeSchema(path.join(ROOT, 'graphql/schema'), []);
const reference = docsPage(ENDPOINTS, schema, 'https://api.example');
const methodology = methodologyPage(ENDPOINTS, schema);

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found as string);
const sectionOf = (id: string): string => reference.split(`<h3 id="${id}">`)[1]?.split('<h3')[0] ?? '';

describe('the pages people read', () => {
  test('every link within a page leads to a place on it, and every link to the methodology to one there', () => {
    const ids = new Set(all(reference, / id="([^"]+)"/g));
    const there = new Set(all(methodology, / id="([^"]+)"/g));
    expect(all(reference, /href="#([^"]+)"/g).filter((id) => !ids.has(id))).toEqual([]);
    expect(all(reference, /href="\/docs\/methodology#([^"]+)"/g).filter((id) => !there.has(id))).toEqual([]);
  });

  test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s: index, price, parameters and fields',
    (name, endpoint) => {
      const id = name.replace(/\//g, '-');
      const section = sectionOf(id);
      expect(reference).toContain(`<a href="#${id}"><code>${endpoint.path}</code></a>`);
      expect(Number(/\$([\d.]+) \(/.exec(section)?.[1])).toBe(dollars(priceRange(endpoint).default));
      const [parameters = '', fields = ''] = section.split('<details>');
      expect(all(parameters, /<tr><td><code>([^<]+)<\/code>/g)).toEqual(endpoint.parameters.map((parameter) => parameter.name));
      const shown = all(fields, /<tr><td><code>([^<]+)<\/code>/g);
      const spelled = new Set(shown.flatMap((field) => [field, field.split('.').map(snakeCase).join('.')]));
      expect(shown.filter((field) => !endpoint.answer.fields.has(field))).toEqual([]);
      expect([...endpoint.answer.fields].filter((field) => !spelled.has(field) && !spelled.has(snakeCase(field)))).toEqual([]);
    },
  );

  test('nothing that a description holds becomes markup', () => {
    const [endpoint] = ENDPOINTS;
    const hostile = { ...(endpoint as (typeof ENDPOINTS)[number]), summary: '<script>alert(1)</script>' };
    expect(docsPage([hostile], schema, 'https://api.example')).not.toContain('<script>');
  });
});
