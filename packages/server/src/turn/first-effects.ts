/**
 * What a first turn may do before somebody can continue its saga.
 *
 * The repetition of a call with a key finds the saga (`requests/start.ts`). Any other call would
 * begin a second one, so a step with an undo waits in its first turn until it is held:
 *
 * 1. By its client, which gets a token, and comes back with it: a handshake.
 * 2. Or by the queue: the turn is committed, and a message leads there if the process dies.
 * 3. Where neither is possible, the step runs at once.
 */
import type { Program } from '@mcp-saga/core';
import { resumableOf, type Holder } from '../model/holder.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { isNamed } from '../token/sealed-saga.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';

/** The facts of a turn that decide who holds its saga. */
export interface FirstTurn {
  readonly program: Partial<Pick<Program, 'forks'>>;
  readonly saga: SealedSaga;
  readonly holder: Holder;
  readonly dialect: DialectCapabilities;
}

/** Who holds a saga before the first step that must not be lost. Undefined: nobody has to, or can. */
export function firstHolder(
  host: Pick<HostParts, 'gate' | 'guard' | 'observer'>,
  { program: { forks }, saga, holder, dialect }: FirstTurn,
): 'client' | 'queue' | undefined {
  const isFirst = saga.claims.turn === 0 && !isNamed(saga) && (dialect.effects ?? 'now') === 'now';
  if (!isFirst || holder.kind !== 'client') return undefined;
  const { returns } = holder;
  const { unkeyed = returns === 'itself' ? 'handshake' : 'run' } = host.gate.starts;
  if (unkeyed === 'handshake' && returns !== undefined) return 'client';
  // The queue of a hook only ends sagas. It is there for clients that never get a token.
  const { guard, observer } = host;
  const isTold = returns === undefined ? observer.notifiesSuspended : guard?.queue !== undefined;
  const canCommit = guard !== undefined && isTold && forks === 'refuse';
  return canCommit && resumableOf(holder) === undefined ? 'queue' : undefined;
}
