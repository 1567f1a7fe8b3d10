import type { SagaHost, SagaHostOptions } from '@mcp-saga/server';
import type * as Server from '@mcp-saga/server';
import type { GivenOptions, LoadedSagas } from './load-sagas.ts';

/**
 * Creates a host that opens tokens, with the options of a server that decide about tokens. It has
 * no queue, which would deliver its messages to this host, and repeats no warnings of the server.
 */
export async function inspectingHost(
  { importFor }: Pick<LoadedSagas, 'importFor'>,
  { name, audience, keys, sagas, store, limits, testing }: GivenOptions,
): Promise<SagaHost> {
  const { createSagaHost } = await importFor<typeof Server>('@mcp-saga/server');
  const own = { name, audience, keys: typeof keys === 'function' ? keys(process.env) : keys };
  const hooks = { onWarning: () => undefined };
  return createSagaHost({ ...own, sagas, store, limits, testing, hooks } as SagaHostOptions);
}

/** What a person can do about a token that does not open, by the reason. */
const advice: Partial<Readonly<Record<string, string>>> = {
  unknown_key: 'None of the keys has its ID: check SAGA_KEYS.',
  undecryptable: 'Check the keys, the audience, and that the token is complete.',
  unknown_handle: 'The store has no token for this handle.',
};

/** Says why a token does not open, and what to do. */
export function whyNotOpened(reason: string): string {
  const { [reason]: hint = 'Check that the token is complete.' } = advice;
  return `The token does not open (${reason}). ${hint}`;
}
