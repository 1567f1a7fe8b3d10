import * as kit from '@mcp-saga/testing';
import * as properties from '@mcp-saga/testing/fast-check';
import * as guards from '@mcp-saga/testing/stores';
import * as files from '@mcp-saga/testing/node';
import type { TestSaga } from '@mcp-saga/testing';
import { saga } from '@mcp-saga/server';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const src = new URL('../src/', import.meta.url);

const atOnce = /^(?:import|export)\s+(?!type\b)([^;]*?)from\s+'([^']+)';/gm;
const ever = new RegExp(String.raw`${atOnce.source}|(\bimport\()'([^']+)'\)`, 'gm');

/**
 * Modules that a module imports, with those that they import: `atOnce` without `import()`, `ever`
 * with it. Types do not count.
 */
function importedBy(
  file: URL,
  imports: RegExp,
  seen: Set<string> = new Set(),
): ReadonlySet<string> {
  for (const [, clause = '', name, , later] of readFileSync(file, 'utf8').matchAll(imports)) {
    const from = name ?? later ?? '';
    if (/^\{(?:\s*type\s[^,}]+,?)*\s*\}\s*$/.test(clause) || seen.has(from + file.pathname))
      continue;
    seen.add(from.startsWith('.') ? from + file.pathname : from);
    if (from.startsWith('.')) importedBy(new URL(from, file), imports, seen);
  }
  return new Set([...seen].filter((each) => !each.startsWith('.')));
}

describe('the main entry', () => {
  it('[P1] loads neither Node built-ins nor a test runner nor an MCP SDK', () => {
    const names = ['@mcp-saga/server', '@mcp-saga/server/internal'];
    expect(importedBy(new URL('index.ts', src), atOnce)).toEqual(new Set(names));
    expect(importedBy(new URL('node.ts', src), atOnce)).toContain('node:fs');
  });

  it('[P1] contains no import of Node, which a bundle for a browser could not resolve', () => {
    const all = importedBy(new URL('index.ts', src), ever);
    expect(all).toContain('@modelcontextprotocol/client');
    expect([...all].filter((name) => name.startsWith('node:'))).toEqual([]);
  });
});

describe('the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const named = (text: string): string[] =>
    [...text.matchAll(/`(\.?[\w.]+)[^`]*`/g)].map(([, name = '']) => name);
  const names = [...readme.matchAll(/^\| (`[^|]*?) *\|/gm)].flatMap(([, cell = '']) => named(cell));

  it('exports the documented names', async () => {
    const script = kit.testSaga(saga({ name: 'empty', version: '1' }, function* () {})) as TestSaga;
    const words = [
      'on',
      'fail',
      'timeout',
      'lose',
      'crash',
      'refuse',
      'late',
      'silent',
      'deny',
      'cancel',
    ] as const;
    const run = await script.run();
    const known = new Set([
      ...[kit, properties, files, guards, kit.sagaMatchers].flatMap((each) => Object.keys(each)),
      ...words.flatMap((word) => Object.keys(script[word]).map((name) => `.${word}.${name}`)),
      '.steps',
      ...[...Object.keys(run), ...Object.getOwnPropertyNames(kit.SagaRun.prototype)].map(
        (name) => `run.${name}`,
      ),
      'input',
      'services',
      'user',
      'queue',
      'sagas',
      'host',
      'providers',
      'before',
      'restart',
      'clock',
      'seed',
      'maxTurns',
    ]);
    expect(names.length).toBeGreaterThan(50);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
  });

  it('names every function of the kit', () => {
    const functions = [kit, properties, files, guards].flatMap((each) =>
      Object.entries(each).flatMap(([name, value]) =>
        typeof value === 'function' && /^[a-z]/.test(name) ? [name] : [],
      ),
    );
    const untold = new Set([
      'lineOf',
      'formatRecording',
      'replayRecording',
      'saveRecording',
      'readRecording',
    ]);
    expect(functions.filter((name) => !named(readme).includes(name) && !untold.has(name))).toEqual(
      [],
    );
  });
});
