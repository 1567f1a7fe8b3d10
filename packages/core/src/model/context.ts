/**
 * Registers the type of `context` for all server steps of an application:
 * `declare module '@mcp-saga/core' { interface Register { context: Env } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- filled in by applications
export interface Register {}

/** Type of `context` in server steps: the type in {@link Register}, or else `unknown`. */
export type Context = Register extends { readonly context: infer C } ? C : unknown;
