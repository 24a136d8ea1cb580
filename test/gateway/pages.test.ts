import fs from 'node:fs';
import path from 'node:path';
import { DEFINITIONS } from '../../src/catalogue';
import { VENUES } from '../../src/wings';
import { snakeCase } from '../../src/endpoints/answer-shape';
import { parameterSchema } from '../../src/endpoints/json-schema';
import { ERRORS } from '../../src/errors';
import { llmsText, openApi } from '../../src/gateway/discovery';
import { META_SCHEMA } from '../../src/gateway/meta-schema';
import { methodologyPage } from '../../src/gateway/pages/methodology';
import { docsPage } from '../../src/gateway/pages/reference';
import { SHARED_DEFINITIONS } from '../../src/gateway/pages/shared-definitions';
import { makeSchema } from '../../src/graph/schema';
import { PROOF_HEADERS } from '../../src/payments/protocols/x402-wire';
import { priceRange } from '../../src/pricing/catalog';
import { dollars } from '../../src/pricing/tiers';
import { ENDPOINTS } from '../support/catalogue';
import { ROOT } from '../support/root';

const schema = makeSchema(path.join(ROOT, 'graphql/schema'), []);
const LIMITS = { unpaid: 300, uncharged: 30 };
const reference = docsPage(ENDPOINTS, schema, 'https://api.example', LIMITS);
const definitions = [...SHARED_DEFINITIONS, ...[...DEFINITIONS.values()].flat()];
const methodology = methodologyPage(ENDPOINTS, schema, DEFINITIONS);

const all = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found]) => found as string);
const sectionOf = (id: string): string => reference.split(`<h3 id="${id}">`)[1]?.split('<h3')[0] ?? '';

const idsOf = (html: string): string[] => all(html, / id="([^"]+)"/g);
/** Values and error codes that descriptions name. */
const WORDS = ['closing_soon', 'not_found'];
/** Titles that a text sends its readers to. */
const quoted = (text: string): string[] => all(text, /"([A-Z][^"]+)"/g).map((title) => title.replace(/\s+/g, ' '));

describe('the pages people read', () => {
  test('every link within a page leads to a place on it, and every link to the methodology to one there', () => {
    const ids = new Set(all(reference, / id="([^"]+)"/g));
    const there = new Set(all(methodology, / id="([^"]+)"/g));
    expect(all(reference, /href="#([^"]+)"/g).filter((id) => !ids.has(id))).toEqual([]);
    expect(all(reference, /href="\/docs\/methodology#([^"]+)"/g).filter((id) => !there.has(id))).toEqual([]);
  });

  test.each([reference, methodology])('nothing is cut off on paper or out of reach of a keyboard, and all has a name', (page) => {
    expect(page).toMatch(/<body><main>.*<\/main><\/body>/s);
    expect(page).toMatch(/pre\{[^}]*white-space:pre-wrap/);
    expect(page).not.toContain('<th></th>');
  });

  /** Relative luminance of #rgb or #rrggbb, as WCAG counts it. */
  function luminance(colour: string): number {
    const digits = colour.slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
    const [r, g, b] = all(digits, /(..)/g).map((pair) => {
      const share = parseInt(pair, 16) / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    }) as [number, number, number];
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  }

  test.each([
    ['light', /^:root\{([^}]*)\}/m],
    ['dark', /prefers-color-scheme:dark\)\{:root\{([^}]*)\}/],
  ])('who prefers a %s page has one on which every text stands out', (_, scheme) => {
    const [style = ''] = all(reference, /<style>([^<]*)<\/style>/g);
    const rules = scheme.exec(style)?.[1] ?? '';
    const colour = (name: string): string => new RegExp(`--${name}:(#\\w+)`).exec(rules)?.[1] ?? 'none';
    for (const ground of ['page', 'code'])
      for (const text of ['text', 'faint', 'link']) {
        const [dim, bright] = [luminance(colour(ground)), luminance(colour(text))].sort((a, b) => a - b) as [number, number];
        expect((bright + 0.05) / (dim + 0.05)).toBeGreaterThan(4.5);
      }
    // No rule names a colour of its own, which the other scheme would not know.
    expect(all(style.replace(/:root\{[^}]*\}/g, ''), /(#[0-9a-f]{3,6})\b/g)).toEqual([]);
  });

  test('rows wrap on a phone, where columns would be narrower than their words', () => {
    expect(reference).toMatch(/@media screen and \(max-width:45rem\)\{[^@]*tr\{display:flex;flex-wrap:wrap/);
  });

  test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
    '%s: index, price, parameters and fields',
    (name, endpoint) => {
      const id = name.replace(/\//g, '-');
      const section = sectionOf(id);
      expect(reference).toContain(`<a href="#${id}"><code>${endpoint.path}</code></a>`);
      expect(Number(/\$([\d.]+) \(/.exec(section)?.[1])).toBe(dollars(priceRange(endpoint).default));
      const [parameters = '', fields = ''] = section.split('<details>');
      expect(parameters).toContain(`An answer is kept for up to ${endpoint.fresh} s.`);
      expect(all(parameters, /<tr><td><code>([^<]+)<\/code>/g)).toEqual(endpoint.parameters.map((parameter) => parameter.name));
      const shown = all(fields, /<tr><td><code>([^<]+)<\/code>/g);
      const spelled = new Set(shown.flatMap((field) => [field, field.split('.').map(snakeCase).join('.')]));
      expect(shown.filter((field) => !endpoint.answer.fields.has(field))).toEqual([]);
      expect([...endpoint.answer.fields].filter((field) => !spelled.has(field) && !spelled.has(snakeCase(field)))).toEqual([]);
    },
  );

  test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s: every parameter is told in words', (name, endpoint) => {
    const [parameters = ''] = sectionOf(name.replace(/\//g, '-')).split('<details>');
    expect(all(parameters, /<tr><td><code>([^<]+)<\/code>.*?<td><\/td><\/tr>/g)).toEqual([]);
    const schemas = endpoint.parameters.map((parameter) => parameterSchema(parameter, schema));
    expect(schemas.filter(({ description }) => description === undefined)).toEqual([]);
  });

  test('the methodology: every place is one place, every link leads to one, and every endpoint back to the reference', () => {
    const ids = idsOf(methodology);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(all(methodology, /href="#([^"]+)"/g).filter((id) => !ids.includes(id))).toEqual([]);
    const inReference = new Set(idsOf(reference));
    const back = all(methodology, /href="\/docs#([^"]+)"/g);
    expect(back.filter((id) => !inReference.has(id))).toEqual([]);
    expect(back).toHaveLength(ENDPOINTS.length);
  });

  test.each(VENUES.map(({ name }) => name))('every tag of %s is told', (venue) => {
    const rules = fs.readFileSync(path.join(ROOT, 'src/venues', venue, 'scoring/tags.ts'), 'utf8');
    const tags = all(rules, /^    \['(\w+)', /gm);
    const told = (DEFINITIONS.get(venue) ?? []).map(({ text }) => text).join(' ');
    expect(tags.length).toBeGreaterThan(5);
    expect(tags.filter((tag) => !told.includes(`\`${tag}\``))).toEqual([]);
  });

  test('every definition is shown, indexed, and named as it is called', () => {
    const titles = definitions.map(({ title }) => title);
    expect(titles.filter((title, index) => titles.indexOf(title) !== index)).toEqual([]);
    for (const { id, title } of definitions) {
      expect(methodology).toContain(`<h3 id="${id}">${title}</h3><p>`);
      expect(methodology).toContain(`<a href="#${id}">${title}</a>`);
    }
    const fields = Object.values(schema.getQueryType()?.getFields() ?? {});
    const texts = [...definitions.map(({ text }) => text), ...fields.map(({ description }) => description ?? '')];
    expect(texts.flatMap(quoted).filter((title) => !titles.includes(title))).toEqual([]);
    expect(texts.filter((text) => /undefined|NaN|\[object/.test(text))).toEqual([]);
  });

  test.each(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))('%s: how it is computed', (name, endpoint) => {
    const id = name.replace(/\//g, '-');
    const section = methodology.split(`<h3 id="${id}">`)[1]?.split('<h')[0] ?? '';
    const told = schema.getQueryType()?.getFields()[endpoint.rootField]?.description ?? '';
    expect(section).toContain(`<a href="/docs#${id}"><code>${endpoint.path}</code></a>`);
    expect(section).toContain('<p>');
    expect(told.split(/\.\s/).length).toBeGreaterThan(2);
    expect(told.length).toBeGreaterThan(3 * endpoint.summary.length);
    const own = new Set([
      ...[...endpoint.answer.fields].flatMap((field) => field.split('.')),
      ...endpoint.parameters.map((one) => one.name),
    ]);
    const named = all(told, /`([a-z]+(?:_[a-z0-9]+)+)(?:=\w+)?`/g).filter((word) => !WORDS.includes(word));
    expect(named.filter((word) => !own.has(word))).toEqual([]);
  });

  test('what a buyer must know: sign but do not send, and how a lost answer is had again', () => {
    const paying = reference.split('<h2 id="paying">')[1]?.split('<h2')[0] ?? '';
    for (const told of ['do not send', '<code>Idempotency-Key</code>', 'for 10 minutes', 'waits 2 minutes', '$0.20'])
      expect(paying).toContain(told);
  });

  test('who has no stock client is told the headers of offer, proof and receipt, and what is signed', () => {
    const byHand = reference.split('<h3 id="by-hand">')[1]?.split('<h2')[0] ?? '';
    for (const told of [...PROOF_HEADERS.slice(0, 1), 'Authorization: Payment', 'PAYMENT-REQUIRED', 'WWW-Authenticate', 'Payment-Receipt'])
      expect(byHand).toContain(`<code>${told}`);
    for (const told of ['TransferChecked', 'extra.memo', 'externalId', 'transfer(recipient, amount)', 'methodDetails.chainId'])
      expect(byHand).toContain(`<code>${told}</code>`);
    // Who guesses the limits is refused.
    for (const told of ['40,000 (200,000 where you pay', '10,000 (5,000,000 where you pay']) expect(byHand).toContain(told);
    const openapi = JSON.stringify(openApi(ENDPOINTS, schema, [], { version: '1', publicUrl: 'https://api.example' }));
    for (const text of [openapi, llmsText(ENDPOINTS, 'https://api.example')])
      for (const told of ['PAYMENT-SIGNATURE', 'Authorization: Payment']) expect(text).toContain(told);
  });

  test('what a client must handle: pages, every field of meta, every error with its status', () => {
    const [, answers = '', errors = ''] = /<h2 id="answers">(.*?)<h2 id="errors">(.*?)<h2/s.exec(reference) ?? [];
    expect(answers).toContain('<code>cursor</code>');
    for (const name of Object.keys(META_SCHEMA.properties))
      expect(answers).toMatch(new RegExp(`<td><code>${name}</code></td><td>[^<]+</td><td>[^<]`));
    for (const [name, { status }] of Object.entries(ERRORS)) expect(errors).toContain(`<td>${status}</td><td><code>${name}</code></td>`);
  });

  test('how often a caller may ask, as the service is set up', () => {
    const errorsTold = (html: string): string => /<h2 id="errors">(.*?)<details>/s.exec(html)?.[1] ?? '';
    for (const told of ['300 requests without payment', '300 proofs that pay nothing', '30 queries that end uncharged', '$10.00 together'])
      expect(errorsTold(reference)).toContain(told);
    const unlimited = errorsTold(docsPage(ENDPOINTS, schema, 'https://api.example', { unpaid: 0, uncharged: 0 }));
    expect(all(unlimited, /(any number of) /g)).toHaveLength(3);
    expect(unlimited).not.toContain(' 0 ');
  });

  test('both bring their picture: no browser asks for one that is not there', () => {
    for (const html of [reference, methodology]) expect(html).toContain('<link rel="icon" href="data:image/svg+xml,');
  });

  test('nothing that a description holds becomes markup', () => {
    const [endpoint] = ENDPOINTS;
    const hostile = { ...(endpoint as (typeof ENDPOINTS)[number]), summary: '<script>alert(1)</script>' };
    expect(docsPage([hostile], schema, 'https://api.example', LIMITS)).not.toContain('<script>');
  });
});
