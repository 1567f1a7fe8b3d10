import { textForPeople } from '@mcp-saga/core/shared';
import type { PageWords } from '../model/page-words.ts';
import type { PageSettings } from '../settings/page-settings.ts';

/** Escaped HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Html | string | number | undefined | false | readonly Html[];

/** Makes HTML of a template. Values other than `Html` are escaped. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += toText(value) + (strings[index + 1] ?? '');
  return new Html(text);
}

function toText(value: Part): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text from data, as people can judge it, isolated from the text around it. */
export function ofData(text: string): Html {
  return html`<bdi>${textForPeople(text)}</bdi>`;
}

/** Puts values into the places of a text of the page, such as `{time}`. */
export function fill(
  text: string,
  values: { readonly [place: string]: Html | string | number },
): Html {
  const parts = text.split(/\{(\w+)\}/);
  return html`${parts.map((part, index) => html`${index % 2 === 0 ? part : values[part]}`)}`;
}

const style = `:root{color-scheme:light dark;--page:#f4f5f7;--card:#fff;--text:#18202c;--muted:#566071;--edge:#dfe3e8;--line:#788292;--accent:#1d4ed8;--soft:#f4f5f7;--good:#15803d;--bad:#b91c1c;--bad-soft:#fef2f2}
@media(prefers-color-scheme:dark){:root{--page:#0d1117;--card:#161b22;--text:#e8ecf1;--muted:#a5afbd;--edge:#2c343f;--line:#7d8896;--accent:#8ab4f8;--soft:#212833;--good:#56d364;--bad:#ff9b94;--bad-soft:#2d1719}}
*{box-sizing:border-box}
body{margin:0;font:1rem/1.5 system-ui,sans-serif;background:var(--card);color:var(--text)}
main{max-width:35rem;margin:0 auto;padding:1.5rem 1.25rem 2rem;overflow-wrap:anywhere}
@media(min-width:40rem){body{background:var(--page)}main{margin:2rem auto;padding:2rem;background:var(--card);border:1px solid var(--edge);border-radius:.75rem}}
img{display:block;max-width:100%;max-height:3rem;margin:0 0 1.25rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem}
p{margin:0 0 1rem}
.message{white-space:pre-wrap;font-size:1.0625rem;margin:0 0 1.5rem;padding:.875rem 1rem;background:var(--soft);border-inline-start:.25rem solid var(--accent);border-radius:.375rem}
.approved,.denied{display:flex;gap:.625rem;align-items:center}
.approved::before,.denied::before{flex:none;width:2rem;height:2rem;border-radius:50%;color:var(--card);font-size:1.125rem;line-height:2rem;text-align:center}
.approved::before{content:"\\2713"/"";background:var(--good)}
.denied::before{content:"\\2715"/"";background:var(--bad)}
.field,fieldset{margin:0 0 1.25rem;padding:0;border:0;min-width:0}
label,legend{display:block;font-weight:600;padding:0;margin:0 0 .25rem}
.choice{display:flex;gap:.625rem;align-items:center;font-weight:400;min-height:2.75rem;margin:0;cursor:pointer}
.hint,.note{color:var(--muted);font-size:.9375rem}
.hint{margin:0 0 .375rem}
.error{color:var(--bad);font-size:.9375rem;font-weight:600;margin:.375rem 0 0}
input,select,textarea{display:block;font:inherit;color:inherit;accent-color:var(--accent);background:var(--card);border:1px solid var(--line);border-radius:.5rem}
input:not([type=checkbox]),select,textarea{width:100%;padding:.5rem .75rem;min-height:2.75rem}
textarea{resize:vertical}
input[type=checkbox]{flex:none;width:1.25rem;height:1.25rem;margin:0}
[aria-invalid=true]{border:2px solid var(--bad)}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.75rem}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.625rem 1.25rem;border-radius:.5rem;border:1px solid var(--line);background:var(--card);color:inherit;flex:1 1 8rem;cursor:pointer}
button:hover{background:var(--soft)}
button.main{background:var(--accent);border-color:var(--accent);color:var(--card)}
button.main:hover{filter:brightness(.9)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.note{margin:0 0 1rem}
dl{margin:0 0 1.25rem}
dt{font-weight:600}
dd{margin:0 0 .75rem;white-space:pre-wrap}
.facts{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1.5rem 0;color:var(--muted);font-size:.9375rem}
.facts dd{margin:0}
.problems{border:1px solid var(--bad);border-inline-start-width:.25rem;border-radius:.375rem;background:var(--bad-soft);padding:.75rem 1rem;margin:0 0 1.5rem}
.problems p{margin:0}`;

/**
 * Makes the response with a page. Without scripts, never cached, never framed, and without a
 * referrer for links and for the logo.
 * @param mark - decision that was recorded, shown as a symbol beside the title
 */
export function pageResponse(
  { name, lang, logo }: PageSettings,
  status: number,
  title: string,
  body: Html,
  mark?: 'approved' | 'denied',
): Response {
  const nonce = crypto.randomUUID();
  // A policy cannot name one `data:` URL. Such an image loads nothing, and the page has one image.
  const images = logo?.startsWith('data:') === true ? 'data:' : logo;
  const page = html`<!doctype html>
    <html lang="${lang}" dir="auto">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        <style nonce="${nonce}">
          ${new Html(style)}
        </style>
      </head>
      <body>
        <main>
          ${logo !== undefined && html`<img src="${logo}" alt="${name}" />`}
          <h1${mark !== undefined && html` class="${mark}"`}>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `;
  return new Response(page.text, {
    status,
    headers: {
      ...plainHeaders,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}';${images === undefined ? '' : ` img-src ${images};`} form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    },
  });
}

/** Headers of all responses: links are secrets. */
export const plainHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const;

/** Names of the notices of a page: each has a title and a text. */
export type Notice = {
  [name in keyof PageWords]: `${name}Title` extends keyof PageWords ? name : never;
}[keyof PageWords];

/** Makes the response with a page of a single text. */
export function noticeResponse(
  page: PageSettings,
  status: number,
  notice: Notice,
  text: Html = html`${page.words[notice]}`,
): Response {
  return pageResponse(page, status, page.words[`${notice}Title`], html`<p>${text}</p>`);
}

/** Makes the response for a user who may not answer. */
export function notYours(page: PageSettings, subject: string | undefined): Response {
  const { words } = page;
  const signedInAs = subject !== undefined && fill(words.signedInAs, { user: ofData(subject) });
  return pageResponse(
    page,
    403,
    words.notYoursTitle,
    html`<p>${words.notYours}</p>
      <p>${signedInAs} ${words.signInAsOther}</p>`,
  );
}
