import { readFileSync } from 'node:fs';

const root = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

/** Copies the addresses of the project from the root's package.json into each packed one. Empty ones are left out. */
function beforePacking(manifest) {
  const { repository, homepage, bugs } = root;
  if (repository !== '') {
    const directory = `packages/${manifest.name.replace('@mcp-saga/', '')}`;
    manifest.repository = { type: 'git', url: repository, directory };
  }
  if (homepage !== '') manifest.homepage = homepage;
  if (bugs !== '') manifest.bugs = bugs;
  return manifest;
}

export const hooks = { beforePacking };
