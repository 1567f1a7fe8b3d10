/** The used part of `node:sqlite`, which the types of Node 20 do not have. */
declare module 'node:sqlite' {
  interface Statement {
    all(...values: readonly unknown[]): unknown[];
    run(...values: readonly unknown[]): unknown;
  }

  export class DatabaseSync {
    constructor(path: string);
    exec(sql: string): void;
    prepare(sql: string): Statement;
  }
}
