/**
 * A random ID that makes the value of a call differ from that of any other call, since a store takes
 * an equal value for a repetition. It is short because it is stored.
 */
export function randomId(): string {
  return crypto.randomUUID().slice(0, 18);
}
