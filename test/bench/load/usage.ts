/** Question to a server. `memory` first collects garbage, which takes time. */
export type Question = 'memory' | 'cpu';

/** Resource usage of a server process. */
export interface Usage {
  /** Bytes of JavaScript objects and their buffers. */
  readonly heap: number;
  /** Resident memory of the process, in bytes. */
  readonly rss: number;
  /** Processor time since the start of the process, in microseconds. */
  readonly cpu: number;
}
