/**
 * State of a program between two turns, as texts that only the program reads. Separate by who knows their bytes: compressing a
 * secret beside bytes of the client would leak it by length.
 */
export interface ProgramState {
  /** Small and changing from turn to turn. Not compressed. */
  readonly head: string;
  /** The engine's own structure: kinds, names of steps, digests of what the client knows. Compressed apart. */
  readonly structure: string;
  /** Bytes the client has: arguments, its answers, its samples. Compressed apart. */
  readonly client: string;
  /** All else that server code made: results, keys, fingerprints of inputs. Never compressed. */
  readonly server: string;
}

/**
 * Version of the replay rules and the journal's format, sealed into each token. A saga keeps the version it began with.
 * Version 2 keeps what server code made out of the compressed structure.
 */
export const engineVersion = 2;
