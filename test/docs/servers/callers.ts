// #region callers
import { createSagaHost, type Principal, type SagaHost } from '@mcp-saga/server';
import { note } from './tool.ts';

export const host: SagaHost = createSagaHost({
  sagas: [note],
  keys: process.env['SAGA_KEYS'],
  name: 'notes',
  auth: { principal: 'client-only' },
});

/** Starts a saga for the user of a session, who alone can continue it. */
export async function startFor(principal: Principal, text: string): Promise<string | undefined> {
  const turn = await host.start('note', { text }, { caller: { principal } });
  return turn.status === 'suspended' ? turn.token : undefined;
}

/** Starts a saga that anyone with its token can continue. */
export async function startForAnyone(text: string): Promise<string | undefined> {
  const turn = await host.start('note', { text }, { caller: 'anonymous' });
  return turn.status === 'suspended' ? turn.token : undefined;
}
// #endregion callers
