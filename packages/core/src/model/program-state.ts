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
 * Version of the replay rules and the journal format, sealed into each token. A saga keeps the
 * version of its first turn. Version 2 moves values made by server code out of the compressed
 * structure. Version 3 omits digests of recorded answers and writes a repeated open part of a path
 * once.
 */
export const engineVersion = 3;
