import { type GraphQLSchema, Kind } from 'graphql';
import type { Endpoint } from '../../endpoints/endpoint';
import { anchor, code, page, prose, table } from './page';

const TRACK_RECORD = `<h2 id="track-record">Track record</h2><p>Signal endpoints tell in <code>meta.track_record</code> how their earlier answers turned out.
Once a UTC day, after the daily scores, each of them is asked with its default parameters and its greatest limit, and every signal is stored with the price of that moment.
A signal on an outcome is judged when its market is resolved or refunded (horizon <code>resolution</code>), one on a coin after 1, 24 and 168 hours. A hit is a gain of who followed:
bought the outcome at its price, or its counterpart at one less that price. Against the rate of hits stands the rate that prices implied: hits of 90 % at prices of 0.9 are no edge.
Low-score consensus is judged as advice against it; insiders by the outcomes they are flagged on; early callers by what they hold in open markets. All signals count, none is dropped.
Days before the first start are told afterwards, each from what was known when it began; <code>backdated</code> counts their signals.</p>`;

/** How each answer is computed: the descriptions of the schema, field by field. */
export function methodologyPage(endpoints: readonly Endpoint[], schema: GraphQLSchema): string {
  const fields = schema.getQueryType()?.getFields() ?? {};
  const sections = endpoints.map((endpoint) => {
    const told = fields[endpoint.rootField]?.description ?? endpoint.summary;
    return `<h3 id="${anchor(endpoint)}">${endpoint.method} ${code(endpoint.path)}</h3><p>${prose(told)}</p>`;
  });
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => type.astNode?.kind === Kind.SCALAR_TYPE_DEFINITION && type.description,
  );
  const units = scalars.map((type) => [`<span id="${type.name}">${code(type.name)}</span>`, prose(type.description ?? '')]);
  return page(
    'Methodology',
    `<h1>Methodology</h1><p><a href="/docs">Reference</a></p><h2>Units</h2>${table(['Type', 'Meaning'], units)}${TRACK_RECORD}<h2>Endpoints</h2>${sections.join('')}`,
  );
}
