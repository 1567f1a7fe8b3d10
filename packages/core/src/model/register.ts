import type { Json } from '../values/json.ts';

/**
 * Registers the types of `services`, of `user`, and of `by` in approvals, for all code of an
 * application:
 * `declare module '@mcp-saga/server' { interface Register { services: Services; user: User } }`.
 *
 * Services and users are two things, because they live differently. Services belong to the process,
 * and are there in every turn. A user belongs to a request, and a turn that a queue or an answer page
 * runs has none.
 */
// oxlint-disable-next-line typescript/no-empty-interface, typescript/no-empty-object-type -- filled in by applications
export interface Register {}

/** Type of `services` in server steps: the type in {@link Register}, or else `unknown`. */
export type Services = Register extends { readonly services: infer S } ? S : unknown;

/**
 * Type of the user whom `auth.authenticate` returns: the type in {@link Register}, or else
 * `unknown`. Steps get a {@link RequestUser}.
 */
export type User = Register extends { readonly user: infer U } ? U : unknown;

/** Type of `by` of an approval: the type in {@link Register}, or else any `Otherwise`. */
export type AnswerBy<Otherwise = Json> = Register extends { readonly by: infer B } ? B : Otherwise;

/** Type of `user` in server steps. It is undefined if no request of a user runs the turn. */
export type RequestUser = Register extends { readonly user: infer U } ? U | undefined : unknown;
