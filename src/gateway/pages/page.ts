import type { Endpoint } from '../../endpoints/endpoint';

export const escape = (text: string): string =>
  text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

const STYLE = `:root{color-scheme:light dark;--page:#fff;--text:#1b1f24;--faint:#57606a;--line:#e5e7eb;--code:#f4f5f7;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--page:#14181d;--text:#e3e7ec;--faint:#a3adb8;--line:#343b44;--code:#232a32;--link:#79b8ff}}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:var(--text);background:var(--page)}
h1{font-size:1.6rem}h2{margin-top:2.5rem}h3{margin:2.5rem 0 .3rem;font-size:1rem}code,pre{font:13px ui-monospace,monospace;background:var(--code);border-radius:4px}
code{padding:.1em .3em;overflow-wrap:anywhere}pre{padding:.8rem;white-space:pre-wrap;overflow-wrap:anywhere}.wide{overflow-x:auto}table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}td:first-child code{white-space:nowrap}
.price{color:var(--faint);white-space:nowrap}a{color:var(--link)}details{margin:.6rem 0}summary{cursor:pointer;color:var(--link)}
@media print,(max-width:45rem){td:first-child code,.price{white-space:normal}}
@media screen and (max-width:45rem){table,tbody{display:block}tr{display:flex;flex-wrap:wrap;gap:0 .8rem;padding:.3rem 0;border-bottom:1px solid var(--line)}
td,th{padding:0;border:0}td:last-child:not(:first-child){flex-basis:100%}}`;

/** The wings as pages name them, in their order. */
export const VENUE_TITLES: readonly (readonly [venue: Endpoint['venue'], title: string])[] = [
  ['prediction', 'Prediction market'],
  ['perps', 'Perpetual futures'],
  ['lp', 'Liquidity pools'],
];

/** A picture of its own, so that no browser asks for another one. */
const ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 8 8%22%3E%3Cpath d=%22M1 5h1v2H1zm2-2h1v4H3zm2 1h1v3H5zm2-3h1v6H7z%22 fill=%22%230550ae%22/%3E%3C/svg%3E';

/** A whole page without scripts. */
export const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><link rel="icon" href="${ICON}"><title>${escape(title)}</title><style>${STYLE}</style></head><body><main>${body}</main></body></html>`;

/** A table of ready HTML cells, which scrolls by itself where it is wider than the screen. */
export const table = (heads: readonly string[], rows: readonly (readonly string[])[]): string =>
  `<div class="wide"><table><tr>${heads.map((head) => `<th>${head}</th>`).join('')}</tr>${rows
    .map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
    .join('')}</table></div>`;

export const code = (text: string): string => `<code>${escape(text)}</code>`;

/** A description of the schema: what stands between backticks is code. */
export const prose = (text: string): string => escape(text).replace(/`([^`]+)`/g, '<code>$1</code>');

/** Where an endpoint stands on a page. */
export const anchor = (endpoint: Endpoint): string => endpoint.name.replace(/\//g, '-');
