import { type GraphQLSchema, Kind } from 'graphql';
import type { Endpoint, Parameter } from '../endpoints/endpoint';
import { allowedOf } from '../endpoints/read';
import { sampleInput } from '../endpoints/json-schema';
import { priceRange } from '../pricing/catalog';
import { dollars } from '../pricing/tiers';

const escape = (text: string): string => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}
h1{font-size:1.6rem}h2{margin-top:2.5rem}h3{margin:2rem 0 .3rem;font-size:1rem}code,pre{font:13px ui-monospace,monospace;background:#f4f5f7;border-radius:4px}
code{padding:.1em .3em}pre{padding:.8rem;overflow-x:auto}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid #e5e7eb;vertical-align:top}
.price{color:#57606a}a{color:#0550ae}`;

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(title)}</title><style>${STYLE}</style></head><body>${body}</body></html>`;

const VENUES: [Endpoint['venue'], string][] = [
  ['prediction', 'Prediction market'],
  ['perps', 'Perpetual futures'],
  ['lp', 'Liquidity pools'],
];

const usd = (micro: bigint): string =>
  dollars(micro).toLocaleString('en-US', { style: 'currency', currency: 'USD', maximumFractionDigits: 6 });
const anchor = (endpoint: Endpoint): string => endpoint.name.replace(/\//g, '-');

function allowedText(parameter: Parameter): string {
  const allowed = allowedOf(parameter);
  if (Array.isArray(allowed)) return allowed.join(', ');
  if (typeof allowed === 'object' && allowed !== null) return `${parameter.min} to ${parameter.max}${parameter.list ? ' items' : ''}`;
  return String(allowed);
}

function parameterRow(parameter: Parameter): string {
  const fallback = parameter.required ? 'required' : parameter.default === undefined ? '–' : String(parameter.default);
  const price = parameter.pricedLimit ? 'priced limit' : parameter.filter ? `× ${parameter.filter.factor}` : '';
  return `<tr><td><code>${parameter.name}</code></td><td>${escape(fallback)}</td><td>${escape(allowedText(parameter))}</td><td>${price}</td><td>${escape(parameter.note ?? '')}</td></tr>`;
}

function exampleOf(endpoint: Endpoint, publicUrl: string): string {
  const sample = sampleInput(endpoint);
  if (endpoint.method === 'POST')
    return `curl -s -X POST ${publicUrl}${endpoint.path} -H 'Content-Type: application/json' -d '${JSON.stringify(sample)}'`;
  const query = new URLSearchParams(Object.entries(sample).map(([name, value]) => [name, String(value)])).toString();
  return `curl -s '${publicUrl}${endpoint.path}${query ? `?${query}` : ''}'`;
}

function endpointSection(endpoint: Endpoint, publicUrl: string): string {
  const price = priceRange(endpoint);
  const table = endpoint.parameters.length
    ? `<table><tr><th>Parameter</th><th>Default</th><th>Allowed</th><th>Price</th><th>Notes</th></tr>${endpoint.parameters.map(parameterRow).join('')}</table>`
    : '';
  return `<h3 id="${anchor(endpoint)}">${endpoint.method} <code>${endpoint.path}</code> <span class="price">${usd(price.default)} (${usd(price.cheapest)} to ${usd(price.dearest)})</span></h3>
<p>${escape(endpoint.summary)} <a href="/docs/methodology#${anchor(endpoint)}">How it is computed</a></p>${table}<pre>${escape(exampleOf(endpoint, publicUrl))}</pre>`;
}

/** The reference of everything sold, as one page without scripts. */
export function docsPage(endpoints: readonly Endpoint[], publicUrl: string): string {
  const sections = VENUES.map(
    ([venue, title]) =>
      `<h2>${title}</h2>${endpoints
        .filter((endpoint) => endpoint.venue === venue)
        .map((endpoint) => endpointSection(endpoint, publicUrl))
        .join('')}`,
  );
  return page(
    'Smart money analytics',
    `<h1>Smart money analytics</h1><p>Pay per query, no accounts. A request without payment is answered with <code>402</code>, the exact price and a free check of its parameters;
the same request with a proof of payment is answered with data. Errors, time-outs and empty answers cost nothing.
<a href="/api/v1/pricing">Prices</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/docs/methodology">Methodology</a> · <a href="/health">Health</a></p>${sections.join('')}`,
  );
}

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
    const prose = fields[endpoint.rootField]?.description ?? endpoint.summary;
    return `<h3 id="${anchor(endpoint)}">${endpoint.method} <code>${endpoint.path}</code></h3><p>${escape(prose)}</p>`;
  });
  const scalars = Object.values(schema.getTypeMap()).filter(
    (type) => type.astNode?.kind === Kind.SCALAR_TYPE_DEFINITION && type.description,
  );
  const units = scalars.map((type) => `<tr><td><code>${type.name}</code></td><td>${escape(type.description ?? '')}</td></tr>`).join('');
  return page(
    'Methodology',
    `<h1>Methodology</h1><p><a href="/docs">Reference</a></p><h2>Units</h2><table>${units}</table>${TRACK_RECORD}<h2>Endpoints</h2>${sections.join('')}`,
  );
}
