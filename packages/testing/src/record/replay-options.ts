/** What of a recording has to hold. */
export interface ReplayOptions {
  /** How the file or the recording is called in messages. */
  readonly name?: string;
  /** Whether the saga has to end as it did: with the same result or error. Default `compare`. */
  readonly ends?: 'compare' | 'ignore';
}
