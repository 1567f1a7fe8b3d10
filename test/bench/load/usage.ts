/** What a server is asked: `memory` first collects what nothing holds any more, which takes its time. */
export type Question = 'memory' | 'cpu';

/** What a server process takes. */
export interface Usage {
  /** Bytes of JavaScript objects and of the buffers they hold. */
  readonly heap: number;
  /** Bytes of the whole process that are in memory. */
  readonly rss: number;
  /** Microseconds of processor time since its start. */
  readonly cpu: number;
}
