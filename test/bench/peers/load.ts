/** Loads a module of the folder the peers are in. */
export type Load = (name: string) => unknown;
