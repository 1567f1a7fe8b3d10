/**
 * Where an application says, once, what its server steps get as `context`:
 * `declare module '@mcp-saga/core' { interface Register { context: Env } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- filled in by applications
export interface Register {}

/** The type of `context` in server steps: what {@link Register} says, else `unknown`. */
export type Context = Register extends { readonly context: infer C } ? C : unknown;
