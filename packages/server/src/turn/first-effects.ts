/**
 * What a first turn may do before somebody can continue its saga.
 *
 * A step with an undo waits in its first turn until its saga is held:
 *
 * 1. By its client, which gets a token, and comes back with it: a handshake.
 * 2. Or by the queue: the turn is committed, and a message leads there if the process dies.
 * 3. Where neither is possible, the step runs at once.
 *
 * The repetition of a call with a key finds its saga (`requests/start.ts`), and the option `queue`
 * has a message of it from the beginning. Any other call would begin a second saga.
 */
import type { Program } from '@mcp-saga/core';
import { resumableOf, type Holder } from '../model/holder.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { isNamed } from '../token/sealed-saga.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';

/** The facts of a turn that decide who holds its saga. */
export interface FirstTurn {
  readonly program: Pick<Program, 'reuse'>;
  readonly saga: SealedSaga;
  readonly holder: Holder;
  readonly dialect: DialectCapabilities;
}

/** Who holds a saga before the first step that must not be lost. Undefined: nobody has to, or can. */
export function firstHolder(
  { gate, guard }: Pick<HostParts, 'gate' | 'guard'>,
  { program: { reuse }, saga, holder, dialect }: FirstTurn,
): 'client' | 'queue' | undefined {
  const isFirst = saga.claims.turn === 0 && (dialect.effects ?? 'now') === 'now';
  if (!isFirst || holder.kind !== 'client' || isNamed(saga)) return undefined;
  const { returns } = holder;
  const { unkeyed = returns === 'itself' ? 'handshake' : 'run' } = gate.starts;
  if (unkeyed === 'handshake' && returns !== undefined) return 'client';
  const isTold = guard?.queue !== undefined && reuse !== 'ok' && resumableOf(holder) === undefined;
  return isTold ? 'queue' : undefined;
}
