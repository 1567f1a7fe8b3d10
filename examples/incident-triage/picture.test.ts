import { readFileSync } from 'node:fs';
import { toMermaid } from '@mcp-saga/xstate';
import { expect, it } from 'vitest';
import { triage } from './machine.ts';

it('the README shows the machine as it is, where both are asked', () => {
  const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8');
  const [, picture] = /```mermaid\n([\s\S]*?)```/.exec(readme) ?? [];
  expect(picture).toBe(
    toMermaid(triage, { value: { triaging: { person: 'onCall', model: 'classifying' } } }),
  );
});
