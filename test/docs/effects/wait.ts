import { checkpoint, elicit, poll, saga, sleep, step } from '@mcp-saga/server';
import { z } from 'zod';

/** Number of times that a build was started and asked for. */
export const builds = { started: 0, asked: 0 };
const ci = {
  start: (): number => (builds.started += 1),
  result: async (id: number): Promise<string | undefined> => {
    builds.asked += 1;
    return builds.asked < 3 || id !== builds.started ? undefined : 'passed';
  },
};

// #region checkpoint
export const list = saga({ name: 'list', version: '1' }, function* () {
  const first = yield* step('page', () => 'order 1\norder 2', { key: '1', reads: true });
  yield* checkpoint(first); // ends the request; the client shows the page and continues
  return yield* step('page', () => 'order 3', { key: '2', reads: true });
});
// #endregion checkpoint

// #region sleep
const Done = z.object({ done: z.boolean() });

export const remind = saga({ name: 'remind', version: '1' }, function* () {
  yield* sleep('1h');
  const { done } = yield* elicit('done', { message: 'Is the task done?', schema: Done });
  return done ? 'Done.' : 'Still open.';
});
// #endregion sleep

// #region until
export const publish = saga(
  { name: 'publish', version: '1', input: z.object({ at: z.iso.datetime() }) },
  function* ({ at }) {
    yield* sleep(new Date(at));
    yield* step('publish', () => 'published');
    return `Published at ${at}.`;
  },
);
// #endregion until

// #region poll
export const build = saga({ name: 'build', version: '1' }, function* () {
  const id = yield* step('start', () => ci.start());
  const result = yield* poll('result', () => ci.result(id), {
    every: '5s',
    timeout: '30m',
    report: ({ elapsedMs }) => `Building for ${elapsedMs / 1_000} s`,
  });
  return `The build ${result}.`;
});
// #endregion poll
