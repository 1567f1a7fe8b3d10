import * as kit from '@mcp-saga/testing';
import * as properties from '@mcp-saga/testing/fast-check';
import * as guards from '@mcp-saga/testing/guard';
import * as files from '@mcp-saga/testing/node';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const src = new URL('../src/', import.meta.url);

/** What a module loads when it is loaded, with all that comes along: neither types nor `import()`. */
function loadedBy(file: URL, seen: Set<string> = new Set()): ReadonlySet<string> {
  const code = readFileSync(file, 'utf8');
  for (const [, clause = '', from = ''] of code.matchAll(
    /^(?:import|export)\s+(?!type\b)([^;]*?)from\s+'([^']+)';/gm,
  )) {
    if (/^\{(?:\s*type\s[^,}]+,?)*\s*\}\s*$/.test(clause) || seen.has(from + file.pathname)) continue;
    seen.add(from.startsWith('.') ? from + file.pathname : from);
    if (from.startsWith('.')) loadedBy(new URL(from, file), seen);
  }
  return new Set([...seen].filter((each) => !each.startsWith('.')));
}

describe('the main entry', () => {
  it('[P1] loads neither Node nor a test runner nor an MCP SDK', () => {
    expect(loadedBy(new URL('index.ts', src))).toEqual(
      new Set(['@mcp-saga/server', '@mcp-saga/server/internal']),
    );
    expect(loadedBy(new URL('node.ts', src))).toContain('node:fs');
  });
});

describe('the table of the README', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const names = [...readme.matchAll(/^\|[^|]*\| (`[^|]*?) *\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\.?[\w.]+)[^`]*`/g)].map(([, name = '']) => name),
  );

  it('names what there is', () => {
    const { TestSaga, SagaRun, sagaMatchers } = kit;
    const known = new Set([
      ...[kit, properties, files, guards, sagaMatchers].flatMap((each) => Object.keys(each)),
      ...Object.getOwnPropertyNames(TestSaga.prototype).map((name) => `.${name}`),
      ...Object.getOwnPropertyNames(SagaRun.prototype).map((name) => `run.${name}`),
      'run.trace',
      'run.effects',
      'run.warnings',
      '.on.elicit',
      '.sample',
      '.url',
      '.roots',
      '.on.step',
      '.lose.step',
      '.lose.response',
      '.crash.before',
      '.crash.after',
      '.cancel.at',
      '.late.elicit',
      '.silent.elicit',
      '.deny.client',
      'input',
      'context',
      'sagas',
      'host',
      'providers',
      'before',
      'restart',
      'clock',
      'seed',
      'harmless',
      'check',
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
    expect(functions.filter((name) => !names.includes(name) && !untold.has(name))).toEqual([]);
  });
});
