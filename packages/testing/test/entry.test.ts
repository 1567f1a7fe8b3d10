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
    expect(loadedBy(new URL('index.ts', src))).toEqual(new Set(['@mcp-saga/server']));
    expect(loadedBy(new URL('node.ts', src))).toContain('node:fs');
  });
});
