import type { GraphQLSchema } from 'graphql';
import { type Endpoint, type Parameter, toldOf } from '../../endpoints/endpoint';
import { type JsonSchema, outputSchema, sampleInput, sampleTarget } from '../../endpoints/json-schema';
import { wantedOf } from '../../endpoints/read';
import { ERRORS } from '../../errors';
import { FORMS } from '../../lib/forms';
import { PAYMENT_DEFAULTS } from '../../payments/config';
import { MOST } from '../../payments/protocols/solana-refusals';
import { conditionOf, ownRulesOf, priceRange } from '../../pricing/catalog';
import { WINDOW_LISTS } from '../../pricing/exceptions';
import { narrowsOnly } from '../../pricing/quote';
import { BASE_MICRO, CEILING_MICRO, FLOOR_MICRO, TIMEFRAME_MULTIPLIERS, usd } from '../../pricing/tiers';
import { META_SCHEMA } from '../meta-schema';
import { VENUE_TITLES, anchor, code, escape, page, prose, table } from './page';

/** What a Solana transaction may ask for, by who pays its fee. */
const most = (what: 'limit' | 'price'): string =>
  `${MOST.sponsored[what].toLocaleString('en-US')} (${MOST.self_paid[what].toLocaleString('en-US')} where you pay the fee)`;

const price = (text: string): string => `<span class="price">${text}</span>`;

/** What a parameter takes; a scalar of ours leads to its meaning. */
function allowedText({ type, list, choices, min, max }: Parameter): string {
  if (choices) return escape(choices.join(', '));
  if (list) return `${min} to ${max} × ${typeLink(type)}`;
  if (FORMS[type]?.choices !== undefined) return typeLink(type);
  if (min !== null && max !== null) return `${min} to ${max}${type === 'String' ? ' characters' : ''}`;
  return type === 'Boolean' ? 'true, false' : typeLink(type);
}

const typeLink = (type: string): string => `<a href="/docs/methodology#${type}">${type}</a>`;

/** How a parameter moves the price. */
function effectText(endpoint: Endpoint, parameter: Parameter): string {
  if (parameter.name === (WINDOW_LISTS[endpoint.name] ?? 'timeframe')) return narrowsOnly(endpoint) ? '× window, at most 1' : '× window';
  if (parameter.pricedLimit) return `× ${parameter.name} / ${String(parameter.default)}, at least 1`;
  if (parameter.filter === null) return '';
  // That it is sent goes without saying.
  const condition = conditionOf(parameter).replace(/^(always present|sent)( and )?/, '');
  return `× ${parameter.filter.factor}${condition === '' ? '' : ` if ${condition}`}`;
}

function parameterRow(endpoint: Endpoint, parameter: Parameter): string[] {
  const fallback = parameter.required ? 'required' : parameter.default === undefined ? '–' : String(parameter.default);
  return [
    code(parameter.name),
    escape(fallback),
    allowedText(parameter),
    price(escape(effectText(endpoint, parameter))),
    prose(toldOf(parameter)),
  ];
}

/** Dot paths of the fields of an answer's rows, with type and meaning. */
function fieldRows(schema: JsonSchema, path = ''): string[][] {
  const variants = schema.oneOf as JsonSchema[] | undefined;
  if (variants !== undefined) return variants.flatMap((variant) => fieldRows(variant, path));
  if (schema.items !== undefined) return fieldRows(schema.items as JsonSchema, path);
  return Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>).flatMap(([name, field]) => [
    [code(`${path}${name}`), escape(typeText(field)), prose(String(field.description ?? ''))],
    ...fieldRows(field, `${path}${name}.`),
  ]);
}

function typeText({ type, enum: choices }: JsonSchema): string {
  if (Array.isArray(choices)) return choices.map((choice) => (choice === null ? 'null' : String(choice))).join(' | ');
  return [type ?? 'object'].flat().join(' | ');
}

function exampleOf(endpoint: Endpoint, publicUrl: string): string {
  const url = `${publicUrl}${sampleTarget(endpoint)}`;
  if (endpoint.method === 'GET') return `curl -s '${url}'`;
  return `curl -s -X POST ${url} -H 'Content-Type: application/json' -d '${JSON.stringify(sampleInput(endpoint))}'`;
}

function endpointSection(endpoint: Endpoint, schema: GraphQLSchema, publicUrl: string): string {
  const range = priceRange(endpoint);
  const rules = [
    ...ownRulesOf(endpoint).map((rule) => `Price rule: ${rule}.`),
    ...endpoint.oneOfRequired.map((group) => `Parameters: ${wantedOf(group)}.`),
  ];
  const parameters = endpoint.parameters.map((parameter) => parameterRow(endpoint, parameter));
  const fields = fieldRows(outputSchema(endpoint, schema));
  return `<h3 id="${anchor(endpoint)}">${endpoint.method} ${code(endpoint.path)} ${price(`${usd(range.default)} (${usd(range.cheapest)} to ${usd(range.dearest)})`)}</h3>
<p>${escape(endpoint.summary)}. <a href="/docs/methodology#${anchor(endpoint)}">How it is computed</a>. An answer is kept for up to ${endpoint.fresh} s.${rules.map((rule) => ` ${escape(rule)}`).join('')}</p>
${parameters.length ? table(['Parameter', 'Default', 'Allowed', 'Price', 'Notes'], parameters) : ''}
<pre>${escape(exampleOf(endpoint, publicUrl))}</pre>
<details><summary>${fields.length} fields of ${endpoint.answer.table ? 'each row of ' : ''}the answer</summary>${table(['Field', 'Type', 'Meaning'], fields)}</details>`;
}

const indexRow = (endpoint: Endpoint): string[] => [
  endpoint.method,
  `<a href="#${anchor(endpoint)}">${code(endpoint.path)}</a>`,
  price(usd(priceRange(endpoint).default)),
  escape(endpoint.summary),
];

const HOW_TO_PAY = `<h2 id="paying">Paying</h2><ol>
<li>Send the request without payment. The <code>402</code> tells its exact price and how to pay it, and checks the parameters: all free.</li>
<li>Send it again with the proof. Stock clients do both by themselves: x402 (Solana) <code>@x402/fetch</code> with <code>@x402/svm</code>; MPP <code>mppx</code> (tempo) and <code>@solana/mpp</code> (solana).
<code>Accept-Payment: tempo/charge</code> leaves the challenge of one MPP method alone in the headers; the body goes on offering x402.</li>
<li>The query runs, and only when it has succeeded with data is the payment broadcast. Errors, time-outs (${PAYMENT_DEFAULTS.deadline_ms / 1_000} s) and empty answers cost nothing.</li></ol>
<ul><li>Sign, but do not send: a payment that its buyer has sent already (MPP <code>hash</code>, <code>signature</code>) is refused, and buys nothing.</li>
<li>An answer that was lost on its way is given again, without paying twice, for ${PAYMENT_DEFAULTS.kept_answer_ms / 60_000} minutes. Send the same proof once more (MPP, or x402 version 2), or a new proof of
the same payer with the same <code>Idempotency-Key</code>, 1 to 128 visible characters of your choice; x402 also takes its extension <code>payment-identifier</code>.
Who has none of these is told a key to send by <code>503 settlement_pending</code>.</li>
<li>Where the connection broke before the answer's end, begin anew: the payer's next proof for the same request is given that answer and is not charged, unless it comes with such a key of its own.
While the first payment is not confirmed, for as many minutes at most, the next proof is answered <code>503 settlement_pending</code>, and not charged either.</li>
<li>A proof that runs out while its query runs (transactions of stock <code>mppx</code> live 25 seconds) is answered with <code>402 payment_expired</code>, and not charged.
The answer waits ${PAYMENT_DEFAULTS.rechallenge_ms / 60_000} minutes for a fresh proof of the same payer; stock MPP clients sign one by themselves.</li>
<li>The chain's fee is the buyer's: on Tempo part of a cent in a stablecoin. Solana's, some 0.000005 SOL, is so too, unless the x402 offer names a <code>feePayer</code> that takes it over. Where it names none, stock
<code>@x402/svm</code> signs only if you are named: send your address as <code>X-Payer</code>, and the offer does.</li>
<li>An answer costs up to ${usd(CEILING_MICRO)}; <code>x402-fetch</code> 1 pays $0.10 at most unless it is told otherwise.</li></ul>`;

/** The wire of each protocol, for whoever has no stock client in their language. */
const BY_HAND = `<h3 id="by-hand">Without a stock client</h3><p>Each proof holds the offer as it came, and a transaction that is signed and not sent.</p>${table(
  ['Protocol', 'Offer', 'Proof', 'Transaction', 'Receipt'],
  [
    [
      'x402',
      '<code>PAYMENT-REQUIRED</code>: base64 of JSON; one of its <code>accepts</code>',
      '<code>PAYMENT-SIGNATURE</code>: base64 of <code>{"x402Version": 2, "accepted": …, "payload": {"transaction": …}}</code>',
      `Base64 of a Solana transaction: a compute unit limit of at most ${most('limit')}, a price of each of at most ${most('price')} micro-lamports, one <code>TransferChecked</code> of <code>amount</code> from your associated token account of <code>asset</code> to that of <code>payTo</code>,
one memo, <code>extra.memo</code>. Who pays the fee is <code>extra.feePayer</code>: its signature is left empty. A blockhash is in <code>extra.recentBlockhash</code>.`,
      '<code>PAYMENT-RESPONSE</code>',
    ],
    [
      'MPP <code>solana</code>',
      '<code>WWW-Authenticate</code>: the challenge with <code>method="solana"</code>; its <code>request</code> is base64url of JSON',
      '<code>Authorization: Payment</code> and base64url of <code>{"challenge": {…}, "payload": {"type": "transaction", "transaction": …}}</code>, where the challenge is its parameters as texts',
      'As above, of <code>currency</code> to <code>recipient</code>, with <code>externalId</code> as the memo; you pay the fee. A blockhash is in <code>methodDetails.recentBlockhash</code>.',
      '<code>Payment-Receipt</code>',
    ],
    [
      'MPP <code>tempo</code>',
      'The same with <code>method="tempo"</code>',
      'The same with <code>{"type": "transaction", "signature": …}</code>',
      `Hex of a Tempo (<code>0x76</code>) or EIP-1559 transaction for the chain <code>methodDetails.chainId</code>: one call of the token <code>currency</code>, <code>transfer(recipient, amount)</code>, without value.
A first transfer takes more than 300,000 gas. Payments at the same time need nonces of their own.`,
      '<code>Payment-Receipt</code>',
    ],
  ],
)}<p>What is refused of a proof has its <code>reason</code> in the answer, and a sentence.</p>`;

function howPriced(): string {
  const tiers = Object.entries(BASE_MICRO).map(([tier, micro]) => `${tier} ${usd(micro)}`);
  const windows = Object.entries(TIMEFRAME_MULTIPLIERS).map(([token, factor]) => `${code(token)} ${factor}`);
  return `<h2 id="prices">Prices</h2><p>Base by tier (${tiers.join(', ')}) × window × limit × filters, never below ${usd(FLOOR_MICRO)} or above ${usd(CEILING_MICRO)}.
The price beside each endpoint is that of its defaults, with the lowest and the highest it can cost. Windows: ${windows.join(', ')}. <a href="/api/v1/pricing">All factors as JSON</a>; with a path and
parameters it quotes that one request: <code>/api/v1/pricing?path=trades/whales&amp;limit=100</code>.</p>`;
}

const ANSWERS = `<h2 id="answers">Answers</h2><p>A GET takes its parameters in the query, the items of a list separated by commas, a POST as one JSON object. Browsers may ask from any page, and read all headers named here.
Every answer is <code>{ "data", "meta" }</code>; <code>fields=a,b.c</code> keeps these fields of its rows, and their ids; <code>format=csv</code> or <code>ndjson</code> changes how lists are written.
Both hold the data alone: each field of <code>meta</code> is then a header such as <code>X-Meta-next-cursor</code>, left out where it is null; lists are JSON, cut after whole items where they are long.
A cell of <code>csv</code> is the value as it is, also where a spreadsheet would take it for a formula; the empty cell is null.
Readers that guess the type of a column take ids for numbers, and <code>Yes</code> and <code>No</code> for truth values: tell them that these are text.</p>
<p>A list that takes <code>cursor</code> comes in pages: send <code>meta.next_cursor</code> with all other parameters as they were. Each page is a request with its own price. Lists over a window, and those in another order than by time, stay as of the instant of their first page, which <code>meta.as_of</code> tells: bursts of fills, and smart wallets and resolutions in an order that facts change, as that by volume, some seconds ago, before which feeds tell nothing new in the ordinary way. What is told later still, and of <code>markets/search</code> trades of the last seconds, may move a row across the cursor: it is then missing, or there twice. Where scores choose or order rows, all pages go by the scores of the first. They can be read on for a day.</p>
<details><summary>Fields of meta</summary>${table(['Field', 'Type', 'Meaning'], fieldRows(META_SCHEMA))}</details>`;

const ERROR_ROWS = Object.entries(ERRORS).map(([name, { status, sentence, retryable }]) => [
  String(status),
  code(name),
  escape(sentence),
  retryable ? 'yes' : '',
]);

/** How many requests of which kind one caller may send in a minute; 0 is no limit. */
export interface CallerLimits {
  unpaid: number;
  uncharged: number;
}

const atMost = (many: number): string => (many === 0 ? 'any number of' : String(many));

const errorsTold = ({
  unpaid,
  uncharged,
}: CallerLimits): string => `<h2 id="errors">Errors</h2><p>All but a 200 is not charged and says so: <code>charged</code> is false, or "pending" while a payment that was sent is not confirmed.
<code>details</code> names what is wrong, <code>suggestion</code> what to send instead (null: leave it out), <code>fallback</code> another request.
<code>Retry-After</code>, where it is known, says when the same request may go through.</p>
<p>In a minute, an address may send ${atMost(unpaid)} requests without payment and ${atMost(unpaid)} proofs that pay nothing; an address, and a wallet, may ask ${atMost(uncharged)} queries that end uncharged (empty, too late, left or unpaid). Beyond that they are 429.
So is, for ${PAYMENT_DEFAULTS.payer_failure_window_ms / 60_000} minutes at most, whoever pays from a wallet of which ${PAYMENT_DEFAULTS.payer_failures} payments have failed on their chain, or ${PAYMENT_DEFAULTS.payer_undecided} were sent and are not confirmed yet; and whose requests under way cost more than ${usd(PAYMENT_DEFAULTS.payer_reserved_cap)} together.</p>
<details><summary>${ERROR_ROWS.length} codes</summary>${table(['Status', 'Code', 'Meaning', 'Same again may help'], ERROR_ROWS)}</details>`;

/** The reference of everything sold, as one page without scripts. */
export function docsPage(endpoints: readonly Endpoint[], schema: GraphQLSchema, publicUrl: string, limits: CallerLimits): string {
  const wings = VENUE_TITLES.map(([venue, title]) => ({ venue, title, sold: endpoints.filter((endpoint) => endpoint.venue === venue) }));
  const index = wings.map(
    ({ venue, title, sold }) =>
      `<h3><a href="#${venue}">${title}</a></h3>${table(
        ['Method', 'Path', 'Price', 'Question'],
        sold.map((endpoint) => indexRow(endpoint)),
      )}`,
  );
  const sections = wings.map(
    ({ venue, title, sold }) =>
      `<h2 id="${venue}">${title}</h2>${sold.map((endpoint) => endpointSection(endpoint, schema, publicUrl)).join('')}`,
  );
  return page(
    'Smart money analytics',
    `<h1>Smart money analytics</h1><p>Pay per query, no accounts: ${endpoints.length} questions about wallets, markets, coins and pools.
<a href="#paying">Paying</a> · <a href="#prices">Prices</a> · <a href="#answers">Answers</a> · <a href="#errors">Errors</a> · <a href="#questions">Questions</a> · <a href="/openapi.json">OpenAPI</a> · <a href="/docs/methodology">Methodology</a> · <a href="/llms.txt">llms.txt</a> · <a href="/health">Health</a></p>
${HOW_TO_PAY}${BY_HAND}${howPriced()}${ANSWERS}${errorsTold(limits)}<h2 id="questions">Questions</h2>${index.join('')}${sections.join('')}`,
  );
}
