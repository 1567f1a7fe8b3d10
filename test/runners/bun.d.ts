/** As much of Bun's test runner as is used here. */
declare module 'bun:test' {
  interface Expectation {
    toHaveAsked(ids: string | readonly string[]): void;
    toHaveCompensated(ids: string | readonly string[]): void;
    toHaveRun(ids: string | readonly string[]): void;
    toThrow(message: string): void;
  }
  export const expect: {
    (value: unknown): Expectation;
    extend(matchers: object): void;
  };
  export function test(title: string, run: () => Promise<void>): void;
}
