/**
 * Registers the type of `services` for all server steps of an application:
 * `declare module '@mcp-saga/core' { interface Register { services: Env } }`.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- filled in by applications
export interface Register {}

/** Type of `services` in server steps: the type in {@link Register}, or else `unknown`. */
export type Services = Register extends { readonly services: infer S } ? S : unknown;
