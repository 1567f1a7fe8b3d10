import { readFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { problemOfNode as problemOfCli } from '../../../cli/src/node-version.ts';
import { problemOfNode as problemOfCreate } from '../../../create-mcp-saga/src/node-version.ts';
import { warningOfNode } from '../../src/settings/node-version.ts';
import { hostOf } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';

const said = /Node 20\.19 or a later 20\.x, or Node 22\.12 or newer\. This is Node /;

describe.each([
  ['server', (node: string) => warningOfNode({ versions: { node } })],
  ['cli', problemOfCli],
  ['create-mcp-saga', problemOfCreate],
] as const)('%s', (name, problemOf) => {
  test.each(['20.19.0', '20.20.2', '22.12.0', '22.21.1', '23.0.0', '24.1.0', '30.0.0'])(
    `${name} accepts Node %s`,
    (version) => {
      expect(problemOf(version)).toBeUndefined();
    },
  );

  test.each(['16.20.2', '18.20.8', '20.18.3', '21.7.3', '22.11.0', '22.0.0'])(
    `${name} names the version that it needs instead of Node %s`,
    (version) => {
      expect(problemOf(version)).toMatch(said);
      expect(problemOf(version)).toContain(version);
    },
  );

  test(`${name} declares the same versions to package managers`, () => {
    const file = new URL(`../../../${name}/package.json`, import.meta.url);
    const { engines } = JSON.parse(readFileSync(file, 'utf8')) as { readonly engines: object };
    expect(engines).toEqual({ node: '^20.19.0 || >=22.12.0' });
  });
});

test('other runtimes are not measured by the version of Node that they imitate', () => {
  const node = '18.0.0';
  for (const versions of [{ node, bun: '1.1.0' }, { node, deno: '2.0.0' }, {}])
    expect(warningOfNode({ versions })).toBeUndefined();
  expect(warningOfNode({})).toBeUndefined();
});

test('a host warns when it is created on a version of Node that is not supported', () => {
  vi.stubGlobal('process', { ...process, versions: { node: '18.20.8' } });
  try {
    expect(hostOf(asking()).told.warnings).toEqual([expect.stringMatching(said)]);
  } finally {
    vi.unstubAllGlobals();
  }
  expect(hostOf(asking()).told.warnings).toEqual([]);
});
