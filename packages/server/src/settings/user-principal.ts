import { present } from '@mcp-saga/core/program';
import type { Principal } from '../model/caller.ts';
import { SagaHostError } from '../wire/errors.ts';

/**
 * Reads the principal from a user: its `issuer`, `subject`, and `client`. The default of
 * `auth.principal`. Throws `principal_missing` without a subject, and for a member that is no
 * string: without its issuer, the principal would be another one.
 */
export function principalOfUser(user: unknown): Principal {
  const { issuer, subject, client } = Object(user) as { readonly [member: string]: unknown };
  const texts = [issuer, client].filter((member) => member !== undefined);
  const isValid = texts.every((member) => typeof member === 'string');
  if (typeof subject === 'string' && subject !== '' && isValid)
    return present({ issuer, subject, client }) as Principal;
  throw new SagaHostError(
    'principal_missing',
    'The user of the request has no `subject`. Return { subject, issuer, client } from auth.authenticate, besides other members, ' +
      "or set auth.principal: (user) => ({ issuer, subject, client }); or 'client-only', if all users of a client application " +
      "may continue each other's sagas.",
    { public: false },
  );
}
