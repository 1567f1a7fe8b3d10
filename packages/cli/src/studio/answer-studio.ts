import { readFile } from 'node:fs/promises';
import { ownFile } from '../input/own-package.ts';
import type { StudioState } from './seen-turns.ts';

/** Types of the files of the pages. */
const types: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
};

// The editor of the playground adds styles.
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src data:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const headers: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/**
 * Answers a request for the page, or for the `state` with the turns of a saga. Only reads. Any
 * prefix of the path ends with a slash.
 */
export async function answerStudio(
  request: Request,
  state: (sagaId: string | null) => StudioState,
): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return refusal(405, 'The studio only reads: use GET.', { allow: 'GET, HEAD' });
  if (isOfOtherPage(request))
    return refusal(403, 'A page of another origin cannot read the studio.');
  const { pathname, searchParams } = new URL(request.url);
  const name = pathname.slice(pathname.lastIndexOf('/') + 1);
  if (name === 'state') {
    const current = state(searchParams.get('saga'));
    if (searchParams.get('after') === String(current.revision))
      return new Response(null, { status: 204, headers });
    return Response.json(current, { headers });
  }
  const [, file = 'live.html', extension = 'html'] = /^([\w-]+\.(js|css))$/.exec(name) ?? [];
  // The page refers to its files by relative URLs.
  if (name !== '' && file !== name)
    return new Response(null, { status: 307, headers: { ...headers, location: `./${name}/` } });
  return await pageFile(file, extension);
}

/** Responds with a file of the pages. */
export async function pageFile(file: string, extension: string = 'html'): Promise<Response> {
  try {
    return new Response(await readFile(ownFile(`page/${file}`)), {
      headers: { ...headers, 'content-type': `${types[extension]}; charset=utf-8` },
    });
  } catch {
    if (extension !== 'html') return refusal(404, `The page has no file ${file}.`);
    return refusal(
      503,
      'The page is not built. In a checkout: pnpm --dir packages/studio build:live',
    );
  }
}

/** Makes a response with a sentence. */
export function refusal(status: number, message: string, more: object = {}): Response {
  return new Response(`${message}\n`, { status, headers: { ...headers, ...more } });
}

/** Adds the headers of the studio to a response, which keeps its own ones. */
export function secured(response: Response): Response {
  for (const [name, value] of Object.entries(headers))
    if (!response.headers.has(name)) response.headers.set(name, value);
  return response;
}

/** `true` for a request of a page with another origin, except for a link to the studio. */
export function isOfOtherPage({ headers: sent }: Request): boolean {
  const site = sent.get('sec-fetch-site');
  return (
    (site === 'cross-site' || site === 'same-site') && sent.get('sec-fetch-mode') !== 'navigate'
  );
}
