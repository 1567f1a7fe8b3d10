/**
 * Process that started this one, outlives it, and starts another one in its place after a kill. It
 * runs no code of the user.
 */
export interface Supervisor {
  /** Values that an earlier process kept, by name. They must be cloneable. */
  readonly kept: ReadonlyMap<string, unknown>;
  /** ID of the killed process that this one replaces; undefined for the first one. */
  readonly replaced: number | undefined;
  /** Keeps a value for the next process, or forgets it. */
  readonly keep: (name: string, value: unknown) => Promise<void>;
  /** Calls a method of the store in the memory of the supervisor. */
  readonly callStore: (method: string, given: readonly unknown[]) => Promise<unknown>;
  /** Declares that this process serves, so that another one may take its place. */
  readonly ready: () => Promise<void>;
  /** Ends this process at once, like a crash. */
  readonly kill: () => void;
}
