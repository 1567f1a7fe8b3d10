/* oxlint-disable require-yield -- that they do not compile is what is tested */
/**
 * What does not compile of prompts and resources. Compiled by types.test.ts with both compilers.
 */
import { z } from 'zod';
import { call, promptSaga, resourceSaga, saga, step } from '../../src/index.ts';

const options = { name: 'negative', version: '1' };
const resource = { ...options, uriTemplate: 'orders://{id}' } as const;
const prompt = promptSaga(options, function* () {
  return yield* step('text', () => 'x');
});

// @ts-expect-error -- a number is no prompt
promptSaga(options, function* () {
  return yield* step('number', () => 5);
});
// @ts-expect-error -- a tool result is no prompt
promptSaga(options, function* () {
  return yield* step('tool', () => ({ content: [] }));
});
// @ts-expect-error -- a message with an unknown role
promptSaga(options, function* () {
  return { messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] };
});
// @ts-expect-error -- a promise
promptSaga(options, function* () {
  yield Promise.resolve(1);
  return 'x';
});
// @ts-expect-error -- MCP sends texts only
promptSaga({ ...options, input: z.object({ count: z.number() }) }, function* () {
  return 'x';
});
// @ts-expect-error -- a prompt has no structured result
promptSaga({ ...options, output: z.object({}) }, function* () {
  return 'x';
});
// @ts-expect-error -- a number is no resource
resourceSaga(resource, function* () {
  return yield* step('number', () => 5);
});
// @ts-expect-error -- messages are no resource
resourceSaga(resource, function* () {
  return { messages: [] };
});
// @ts-expect-error -- no such variable
resourceSaga(resource, function* ({ name }) {
  return name;
});
// @ts-expect-error -- no template
resourceSaga(options, function* () {
  return 'x';
});
saga(options, function* () {
  // @ts-expect-error -- a prompt is no part of a tool
  yield* call(prompt, {});
  return 'x';
});
