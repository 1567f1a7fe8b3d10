import { expect, it } from 'vitest';
import { sample } from '../src/index.ts';
import { isAuthoringError } from '../src/program-parts.ts';

const js = (value: unknown): never => value as never;

it.each([
  ['tools that are no list', () => sample('s', js({ messages: [], maxTokens: 1, tools: {} }))],
  ['a tool that is null', () => sample('s', js({ messages: [], maxTokens: 1, tools: [null] }))],
])('%s is refused with the ID of the step', (_, make) => {
  let error: unknown;
  try {
    make();
  } catch (thrown) {
    error = thrown;
  }
  expect(isAuthoringError(error)).toBe(true);
});
