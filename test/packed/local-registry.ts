import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename } from 'node:path';
import { createPackageFromTarballData } from '@arethetypeswrong/core';
import type { Tarball } from './pack.ts';

/** A registry on loopback. */
export interface LocalRegistry {
  readonly url: string;
  stop(): void;
}

/** Part of a package's `package.json`. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly [field: string]: unknown;
}

/** Reads the `package.json` in a tarball. */
export function manifestIn({ data }: Tarball): Manifest {
  const content = createPackageFromTarballData(data);
  return JSON.parse(
    content.readFile(`/node_modules/${content.packageName}/package.json`),
  ) as Manifest;
}

/**
 * Serves tarballs as npm's registry does, so that package managers resolve the dependencies among
 * them by version. Use it as the registry of a scope: it knows no other package.
 */
export async function serveTarballs(tarballs: readonly Tarball[]): Promise<LocalRegistry> {
  const files = new Map(tarballs.map((tarball) => [`/${basename(tarball.path)}`, tarball.data]));
  const manifests = new Map(
    tarballs.map((tarball) => {
      const manifest = manifestIn(tarball);
      return [`/${manifest.name}`, { manifest, tarball }];
    }),
  );
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? '');
    const found = manifests.get(path);
    const body =
      found === undefined ? files.get(path) : describe(found.manifest, found.tarball, url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return {
    url,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/**
 * The description of a package with one version. It is old enough for package managers that wait
 * some days.
 */
function describe(manifest: Manifest, { path, data }: Tarball, url: string): string {
  const { name, version } = manifest;
  const published = '2026-01-01T00:00:00.000Z';
  const dist = {
    tarball: `${url}${basename(path)}`,
    integrity: `sha512-${createHash('sha512').update(data).digest('base64')}`,
  };
  return JSON.stringify({
    name,
    'dist-tags': { latest: version },
    versions: { [version]: { ...manifest, dist } },
    time: { created: published, modified: published, [version]: published },
  });
}
