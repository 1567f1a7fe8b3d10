import { TokenRefused, type Expectations, type Sealed, type Sealer } from '@mcp-saga/seal';
import { type Program, type TimelineEntry, ReplayMismatch } from '@mcp-saga/core';
import { orphan, decode, type Outcome, type ProgramState } from '@mcp-saga/core/program';
import type { HostParts, Observer } from '../settings/host-parts.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { toSealedSaga } from './sealed-saga.ts';
import type { Registry } from '../settings/registry.ts';
import type { FailedTurn, SagaTurn } from '../model/turn.ts';

/**
 * Turns the refusal of a newer engine into a retryable error: a process with the newer release of this library can continue
 * the saga. The engine is checked last, so everything else about the token was right. Reports `engine` to `onReject`.
 *
 * @returns the error to throw: `version_gone`, or the given error for every other reason
 */
function laterForNewerEngine({ reject }: Pick<Observer, 'reject'>, error: unknown): unknown {
  if (!(error instanceof TokenRefused) || error.reason !== 'engine') return error;
  reject('engine');
  return new SagaHostError('version_gone', 'The server cannot continue this call now. Send it again later.', {
    cause: new SagaHostError(
      'version_gone',
      'A newer release of this library sealed the token. Finish the deploy of that release.',
      { public: false },
    ),
  });
}

/** A saga that may go on: opened, its version found, its caller allowed. */
export interface OpenSaga {
  readonly saga: SealedSaga;
  /** The version the token names; undefined when it is gone. */
  readonly program: Program | undefined;
  /** The version that is started now. */
  readonly current: Program;
  /** Bytes of all its streams, after decompression. */
  readonly inflatedBytes: number;
}

/** Opens a token. Throws a retryable error for one of a newer release. */
export async function openSealed(
  observer: Pick<Observer, 'reject'>,
  sealer: Sealer,
  token: string,
  expect: Expectations,
): Promise<Sealed> {
  try {
    return await sealer.open(token, expect);
  } catch (error) {
    throw laterForNewerEngine(observer, error);
  }
}

/**
 * Opens the token of a committed turn, which the request that began the turn continues. Its caller was checked, and no client has
 * the token: it is not admitted again, does not expire, and may be larger than others.
 */
export async function openCommitted(host: HostParts, token: string): Promise<OpenSaga> {
  return found(
    host,
    await host.keys.responses.open(token, { purpose: 'token', ignoreExpiry: true, allowFuture: true }),
  );
}

/**
 * Returns the saga in an opened token, with its code.
 *
 * @throws TokenRefused if this host serves neither the saga nor the tool that the client called
 * @throws SagaHostError `version_gone` if this host serves the tool only: newer code continues it as another saga
 */
export function found(host: HostParts, sealed: Sealed): OpenSaga {
  const saga = toSealedSaga(sealed);
  const { name, version } = saga.claims.saga;
  const current = host.registry.named(name);
  if (current === undefined)
    throw host.registry.named(saga.claims.entry.target) !== undefined
      ? versionGone(saga)
      : new TokenRefused('target');
  const program = host.registry.version(name, version, host.timing.clock());
  const inflatedBytes = sealed.streams.reduce((sum, { length }) => sum + length, 0);
  return { saga, program, current, inflatedBytes };
}

/**
 * The error of a saga whose version this host does not serve.
 *
 * @param isOver - whether the saga ends by this error; else its token stays good, and another process may continue it
 */
export function versionGone({ claims }: SealedSaga, isOver: boolean = false): SagaHostError {
  const { name, version } = claims.saga;
  const cause = new SagaHostError(
    'version_gone',
    `This host does not serve version '${version}' of '${name}', or its \`until\` has passed. Register the saga, or add ` +
      'that version to `previous` of the version that this host serves.',
    { public: false },
  );
  const message = isOver
    ? `'${name}' has ended: the version that this call began with is no longer served.`
    : `'${name}' cannot continue now: the version that this call began with is not served here. Send it again later.`;
  return new SagaHostError('version_gone', message, { cause });
}

/**
 * The program that continues a saga. If its version is not served, a substitute undoes the steps with a named compensator, or
 * only throws {@link versionGone}.
 *
 * @param isBegun - whether the turn was begun and never finished: the substitute reports what it may have done as residue
 * @param undoes - whether the substitute undoes. Default: if the served version declares `onMismatch: 'compensate'`
 */
export function standIn(
  { saga, program, current }: OpenSaga,
  isBegun: boolean = false,
  undoes: boolean = current.onMismatch === 'compensate',
): Pick<Program, 'advance' | 'asked'> & Partial<Program> {
  const { saga: of, turn } = saga.claims;
  if (program !== undefined) return program;
  const { advance, asked } = orphan(
    of.name,
    versionGone(saga, true),
    isBegun ? `turn ${turn + 1}` : undefined,
  );
  return {
    // The declaration of a version that is gone is unknown: the saga is guarded if possible, and its queue is notified.
    forks: 'refuse',
    asked,
    advance: undoes ? advance : () => Promise.reject(versionGone(saga)),
  };
}

type Reader = Partial<Pick<Program, 'timeline'>>;

/**
 * Takes one turn of a program from the state of a token.
 *
 * The state is checked only after a failure: parsing it first would take a tenth of the time of a turn.
 *
 * @throws TokenRefused with reason `malformed` for an unreadable state. Nothing ran. The error of the program is dropped,
 * because its message may quote the state.
 */
export async function advanceFrom(
  program: Pick<Program, 'advance'> & Reader,
  ...turn: Parameters<Program['advance']>
): Promise<Outcome> {
  const [state] = turn;
  let outcome: Outcome;
  try {
    outcome = await program.advance(...turn);
  } catch (error) {
    assertReadable(program, state);
    throw error;
  }
  const isUntouched =
    outcome.status === 'failed' && outcome.compensated.length + outcome.residue.length === 0;
  if (isUntouched) assertReadable(program, state);
  return outcome;
}

/**
 * Reads the timeline of the state of a token.
 *
 * @throws TokenRefused with reason `malformed` for an unreadable state
 */
export function readTimeline(
  program: Pick<Program, 'timeline'>,
  state: ProgramState,
): readonly TimelineEntry[] {
  assertReadable(program, state);
  return program.timeline(state);
}

function assertReadable(program: Reader, { structure, client, server, head }: ProgramState): void {
  try {
    JSON.parse(`[${structure}]`);
    for (const value of [client, server].flatMap(valuesIn)) decode(JSON.stringify(value));
    // Throws for entry types of newer releases.
    program.timeline?.({ structure, client, server, head });
  } catch {
    throw new TokenRefused('malformed');
  }
}

function valuesIn(text: string): readonly unknown[] {
  return JSON.parse(`[${text}]`) as readonly unknown[];
}

/**
 * `true` if this process cannot continue a saga now, and the saga is not over: the version is not served here, or the code
 * does not fit the journal. Nothing ran, nothing was undone, and the token stays good.
 */
export function cannotContinue(error: unknown): error is ReplayMismatch | SagaHostError {
  return error instanceof ReplayMismatch || (error instanceof SagaHostError && error.code === 'version_gone');
}

/** `true` if a turn failed only because the code does not fit the journal, and nothing was undone. */
export function isLeftAsItIs(
  turn: SagaTurn,
  { onMismatch }: Pick<Partial<Program>, 'onMismatch'>,
): turn is FailedTurn & { readonly error: ReplayMismatch } {
  return (
    onMismatch === 'fail' &&
    turn.status === 'failed' &&
    turn.error instanceof ReplayMismatch &&
    !turn.error.isFinal &&
    turn.compensated.length + turn.residue.length === 0
  );
}

/** Reports to the operator why this process cannot continue a saga. */
export function reportCannotContinue(
  { hooks }: Pick<Observer, 'hooks'>,
  { claims }: SealedSaga,
  error: ReplayMismatch | SagaHostError,
): void {
  const { name, version } = claims.saga;
  if (error instanceof SagaHostError) return hooks.onError(error);
  hooks.onError(
    new SagaHostError(
      'replay_mismatch',
      `'${name}' (version '${version}') cannot continue after turn ${claims.turn}: its code does not do what its journal ` +
        'records. The token stays good: roll the change back, or release it as a version of its own.',
      { cause: error, public: false },
    ),
  );
}
