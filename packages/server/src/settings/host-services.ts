import type { Awaitable, Services } from '@mcp-saga/core';
import { optionError } from '@mcp-saga/core/shared';
import type { SagaHostOptions } from '../model/host-options.ts';

/**
 * Returns a function that gives the services of the process to the turns of one invocation: a
 * request, a message of a queue, or an attached server.
 *
 * A function of the author is called once, when the first turn needs the services. It is called
 * before the turn is claimed, so that nothing has run if it fails, and the same token, or the same
 * message, works again. The next turn then calls it again.
 */
export function servicesFor(
  { services }: Pick<SagaHostOptions, 'services'>,
  env: unknown,
): () => Awaitable<Services> {
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- necessary if `Register` has a type for services
  if (typeof services !== 'function') return () => services as never;
  const make = services as (env: unknown) => unknown;
  let made: Promise<Services> | undefined;
  const called = async (): Promise<Services> => asServices(await make(env));
  return () =>
    (made ??= called().catch((error: unknown) => {
      made = undefined;
      throw error;
    }));
}

/** Without services, a step would fail after the steps before it have run. */
function asServices(made: unknown): Services {
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- necessary if `Register` has a type for services
  if (typeof made === 'object' && made !== null) return made as never;
  throw optionError(
    'services: the function returned no object. Return { … }, and pass the environment to the method: host.deliver(message, { env }).',
  );
}

/** Checks the option, for JavaScript too. Throws TypeError. */
export function assertServices({ services }: Pick<SagaHostOptions, 'services'>): void {
  if (services === undefined || typeof services === 'function') return;
  const { then } = Object(services) as { readonly then?: unknown };
  if (typeof services === 'object' && services !== null && typeof then !== 'function') return;
  throw optionError(
    'services: expected an object, such as { db }, or a function of the environment that returns one.',
  );
}
