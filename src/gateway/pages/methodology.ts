import { type GraphQLSchema, Kind } from 'graphql';
import type { Endpoint } from '../../endpoints/endpoint';
import type { Definition } from '../../lib/definition';
import { VENUE_TITLES, anchor, code, page, prose, table } from './page';
import { SHARED_DEFINITIONS } from './shared-definitions';

/** How the figures of each wing are computed. */
export type WingDefinitions = ReadonlyMap<Endpoint['venue'], readonly Definition[]>;

const SHARED_TITLE = 'All venues';

/** How each answer is computed: definitions, then the descriptions of the schema, field by field. */
export function methodologyPage(endpoints: readonly Endpoint[], schema: GraphQLSchema, wings: WingDefinitions): string {
  const groups = [
    { id: 'shared', title: SHARED_TITLE, definitions: SHARED_DEFINITIONS },
    ...VENUE_TITLES.map(([venue, title]) => ({ id: venue, title, definitions: wings.get(venue) ?? [] })),
  ];
  const places = new Map(groups.flatMap(({ definitions }) => definitions.map(({ title, id }) => [title, id] as const)));
  const sold = VENUE_TITLES.map(([venue, title]) => ({ venue, title, own: endpoints.filter((endpoint) => endpoint.venue === venue) }));
  const text = (told: string): string => paragraphs(told, places);
  const definitions = groups.map(
    (group) =>
      `<h2 id="${group.id}-definitions">Definitions: ${group.title.toLowerCase()}</h2>${group.definitions
        .map(({ id, title, text: told }) => `<h3 id="${id}">${prose(title)}</h3>${text(told)}`)
        .join('')}`,
  );
  const sections = sold.map(
    ({ venue, title, own }) =>
      `<h2 id="${venue}-endpoints">Endpoints: ${title.toLowerCase()}</h2>${own.map((endpoint) => sectionOf(endpoint, schema, text)).join('')}`,
  );
  const index = [
    ...groups.map(({ id, title, definitions: own }) => [
      link(`${id}-definitions`, `Definitions: ${title.toLowerCase()}`),
      own.map((one) => link(one.id, prose(one.title))).join(' · '),
    ]),
    ...sold.map(({ venue, title, own }) => [
      link(`${venue}-endpoints`, `Endpoints: ${title.toLowerCase()}`),
      own.map((endpoint) => link(anchor(endpoint), code(endpoint.name))).join(' '),
    ]),
  ];
  return page(
    'Methodology',
    `<h1>Methodology</h1><p>How every figure is computed. <a href="/docs">Reference</a></p>${table(['Part', 'Contents'], [[link('units', 'Units'), 'Types of figures and identifiers'], ...index])}
<h2 id="units">Units</h2>${table(['Type', 'Meaning'], unitsOf(schema))}${definitions.join('')}${sections.join('')}`,
  );
}

const link = (id: string, html: string): string => `<a href="#${id}">${html}</a>`;

function sectionOf(endpoint: Endpoint, schema: GraphQLSchema, text: (told: string) => string): string {
  const told = schema.getQueryType()?.getFields()[endpoint.rootField]?.description ?? endpoint.summary;
  const id = anchor(endpoint);
  return `<h3 id="${id}">${endpoint.method} <a href="/docs#${id}">${code(endpoint.path)}</a></h3>${text(told)}`;
}

const unitsOf = (schema: GraphQLSchema): string[][] =>
  Object.values(schema.getTypeMap())
    .filter((type) => type.astNode?.kind === Kind.SCALAR_TYPE_DEFINITION && type.description)
    .map((type) => [`<span id="${type.name}">${code(type.name)}</span>`, prose(type.description ?? '')]);

/** Paragraphs of a text; titles of definitions between quotes lead to them. */
function paragraphs(text: string, places: ReadonlyMap<string, string>): string {
  return text
    .split(/\n\s*\n/)
    .map(
      (part) => `<p>${prose(part.trim()).replace(/&quot;([^&]+)&quot;/g, (quoted, title: string) => linkTo(title, places) ?? quoted)}</p>`,
    )
    .join('');
}

function linkTo(title: string, places: ReadonlyMap<string, string>): string | undefined {
  const id = places.get(title.replace(/\s+/g, ' '));
  return id === undefined ? undefined : link(id, title);
}
