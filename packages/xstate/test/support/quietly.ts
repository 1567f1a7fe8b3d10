import { onTestFinished } from 'vitest';

/**
 * XState's development build tells of events to actors that have been stopped. A spy would keep
 * them all, and walks have many.
 */
export function quietly(): void {
  const { warn } = console;
  console.warn = () => undefined;
  onTestFinished(() => {
    console.warn = warn;
  });
}
