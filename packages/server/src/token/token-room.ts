import type { ProgramState } from '@mcp-saga/core/program';
import { TokenTooLarge } from '@mcp-saga/seal';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { sealSaga } from './sealed-saga.ts';

/** Bytes that sealing adds at most: the padding, and longer numbers in the claims of a later turn. */
const spare = 128;

/**
 * Bytes of JSON that a token can hold beside a state; negative if the state itself does not fit.
 * Seals the saga to find out, because its streams are compressed.
 */
export async function roomBeside(
  { keys, limits }: Pick<HostParts, 'keys' | 'limits'>,
  saga: SealedSaga,
  program: ProgramState,
): Promise<number> {
  // Not as the growth of an earlier token: the streams must stay those of that token.
  const measured = { ...saga, state: { ...saga.state, program }, grown: undefined };
  const { maxTokenBytes, maxInflatedBytes } = limits;
  const { head, structure, client, server } = program;
  const inflated = maxInflatedBytes - bytesOf(head + structure + client + server);
  const stored = await sealSaga(keys.sealer, measured).then(
    (token) => maxTokenBytes - token.length,
    (error: unknown) => {
      if (!(error instanceof TokenTooLarge)) throw error;
      return error.limit - error.bytes;
    },
  );
  return Math.min(inflated, unsealedBytes(stored)) - spare;
}

/**
 * Returns {@link roomBeside} for the states of one turn. It remembers the last measurement, because
 * a request may have many answers: an answer that does not fit leaves the state as it is, and each
 * further one would compress and seal the whole state again.
 */
export function roomMeter(
  host: Pick<HostParts, 'keys' | 'limits'>,
  newest: () => SealedSaga,
): (program: ProgramState) => Promise<number> {
  let last:
    | { readonly saga: SealedSaga; readonly program: ProgramState; readonly room: Promise<number> }
    | undefined;
  return (program) => {
    const saga = newest();
    if (last === undefined || last.saga !== saga || !isSameState(last.program, program))
      last = { saga, program, room: roomBeside(host, saga, program) };
    return last.room;
  };
}

function isSameState(one: ProgramState, other: ProgramState): boolean {
  return (
    one.head === other.head &&
    one.structure === other.structure &&
    one.client === other.client &&
    one.server === other.server
  );
}

/** Bytes of which a number of characters of a token are made. */
export function unsealedBytes(characters: number): number {
  return Math.floor((characters * 3) / 4);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}
