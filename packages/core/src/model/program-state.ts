/**
 * State of a program between two turns, as texts for the program only. Separated by author:
 * compressing a secret beside bytes of the client would reveal the secret by length.
 */
export interface ProgramState {
  /** Small and changing from turn to turn. Not compressed. */
  readonly head: string;
  /**
   * The engine's own structure: kinds, names of steps, digests of what the client knows. Compressed
   * apart.
   */
  readonly structure: string;
  /** Bytes that the client has: arguments, answers, samples. Compressed apart. */
  readonly client: string;
  /**
   * All other values made by server code: results, keys, fingerprints of inputs. Never compressed.
   */
  readonly server: string;
}

/**
 * Version of the replay rules and the journal format, sealed into each token. A host refuses the
 * token of a newer version, which stays valid for the hosts that know the version.
 */
export const engineVersion = 1;
