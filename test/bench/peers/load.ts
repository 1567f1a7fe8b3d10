/** Loads a module from the folder of the peers. */
export type Load = (name: string) => unknown;
