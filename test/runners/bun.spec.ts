/** The kit under Bun's test runner, with its matchers. */
import { sagaMatchers } from '@mcp-saga/testing';
import { expect, test } from 'bun:test';
import { refused, suite } from './suite.ts';

expect.extend(sagaMatchers);

for (const [title, run] of Object.entries(suite)) test(title, run);

test('a Bun test has the matchers', async () => {
  const run = await refused();
  expect(run).toHaveAsked('sure');
  expect(run).toHaveCompensated(['charge']);
  expect(() => expect(run).toHaveRun('ship')).toThrow("It ran 'charge'");
});
