import { afterAll, beforeAll, expect } from 'vitest';

// A setup file. Files of tests share a process: a listener for errors that one of them leaves
// behind hides the errors of those after it, and eleven cause a warning in whichever comes last.
const events = ['uncaughtException', 'unhandledRejection', 'SIGINT', 'SIGTERM'] as const;
const countListeners = (): readonly number[] => events.map((event) => process.listenerCount(event));

let before: readonly number[] = [];
beforeAll(() => {
  before = countListeners();
});
afterAll(() => {
  expect(countListeners(), `listeners of the process for ${events.join(', ')}`).toEqual(before);
});
