import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const types: { readonly [extension: string]: string } = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/**
 * Serves the files of a folder, as a plain static host does: a browser keeps those with a hash in
 * their name.
 *
 * @param more - further files, by path
 */
export async function serveSite(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{ readonly origin: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    const file = decodeURIComponent(pathname.endsWith('/') ? `${pathname}index.html` : pathname);
    const isKept = file in more || /\/assets\/.*[.-][\w-]{8}\.\w+$/.test(file);
    readFile(more[file] ?? join(folder, file)).then(
      (body) =>
        response
          .setHeader('cache-control', isKept ? 'max-age=3600, immutable' : 'no-cache')
          .setHeader('content-type', types[extname(file)] ?? 'application/octet-stream')
          .end(body),
      async () => {
        const body = await readFile(join(folder, '404.html')).catch(() => '');
        response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' }).end(body);
      },
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}
