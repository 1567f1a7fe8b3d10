import { readFileSync } from 'node:fs';
import { toMermaid } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { triage } from './machine.ts';

it('the README shows the current machine, at the state with both questions', () => {
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  const [, picture] = /```mermaid\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(picture).toBe(
    toMermaid(triage, { value: { triaging: { person: 'onCall', model: 'classifying' } } }),
  );
});
