/** The kit under vitest, with its matchers. */
import '@mcp-saga/testing/vitest';
import { expect, test } from 'vitest';
import { refused, suite } from './suite.ts';

for (const [title, run] of Object.entries(suite)) test(title, run);

test('a Vitest test has the matchers', async () => {
  const run = await refused();
  expect(run).toHaveAsked('sure');
  expect(run).toHaveCompensated(['charge']);
  expect(() => expect(run).toHaveRun('ship')).toThrow("It ran 'charge'");
});
