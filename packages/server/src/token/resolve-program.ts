import { TokenRefused, type Expectations, type Sealed, type Sealer } from '@mcp-saga/seal';
import { type Program, type TimelineEntry, ReplayMismatch } from '@mcp-saga/core';
import {
  orphan,
  decode,
  MalformedState,
  type Outcome,
  type ProgramState,
  engineOf,
  type Runnable,
  type SagaEngine,
} from '@mcp-saga/core/program';
import type { HostParts, Observer } from '../settings/host-parts.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import type { FailedTurn, SagaTurn } from '../model/turn.ts';

/**
 * Converts the refusal of a newer engine to the retryable `version_gone`: all else about the token
 * was right. Reports `engine`.
 */
function laterForNewerEngine({ reject }: Pick<Observer, 'reject'>, error: unknown): unknown {
  if (!(error instanceof TokenRefused) || error.reason !== 'engine') return error;
  reject('engine');
  return new SagaHostError(
    'version_gone',
    'The server cannot continue the call now. Send the request again later.',
    {
      cause: new SagaHostError(
        'version_gone',
        'A newer release of mcp-saga sealed the token. Finish the deploy of the newer release.',
        { public: false },
      ),
    },
  );
}

/** Opened saga with its code and an allowed caller. */
export interface OpenSaga {
  readonly saga: SealedSaga;
  /** Version of the token. Undefined if not served. */
  readonly program: Program | undefined;
  /** Version of new sagas. */
  readonly current: Program;
}

/** Opens a token. Throws a retryable error for a token of a newer release. */
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
 * Returns a saga with its code. Throws TokenRefused, or `version_gone` if the host
 * serves only the tool.
 */
export function found(host: HostParts, saga: SealedSaga): OpenSaga {
  const { name, version } = saga.claims.saga;
  const current = host.registry.named(name);
  if (current === undefined)
    throw host.registry.named(saga.claims.entry.target) !== undefined
      ? versionGone(saga)
      : new TokenRefused('target');
  const program = host.registry.version(name, version, host.timing.clock());
  return { saga, program, current };
}

/**
 * Error of a saga of an unknown version. `isOver`: the saga ends. Otherwise the token stays valid.
 */
export function versionGone({ claims }: SealedSaga, isOver: boolean = false): SagaHostError {
  const { name, version } = claims.saga;
  const cause = new SagaHostError(
    'version_gone',
    `The host does not serve version '${version}' of '${name}', or \`until\` has passed. Register the saga, or add ` +
      'the version to `previous` of the served version.',
    { public: false },
  );
  const message = isOver
    ? `'${name}' has ended: the version of the call is no longer served.`
    : `'${name}' cannot continue now: the version of the call is not served here. Send the request again later.`;
  return new SagaHostError('version_gone', message, { cause });
}

/**
 * Returns the program that continues a saga. Without the version of the saga: a program that undoes
 * named compensators, or throws {@link versionGone}. `isBegun`: the effects of the interrupted turn
 * are uncompensated.
 */
export function standIn(
  { saga, program, current }: OpenSaga,
  isInterrupted: boolean = false,
  undoes: boolean = current.onMismatch === 'compensate',
): Runnable {
  const { saga: of, turn } = saga.claims;
  if (program !== undefined) return program;
  const engine = orphan(
    of.name,
    versionGone(saga, true),
    isInterrupted ? `turn ${turn + 1}` : undefined,
  );
  const advance = (): Promise<never> => Promise.reject(versionGone(saga));
  return { engine: undoes ? engine : { ...engine, advance } };
}

/**
 * Takes one turn from the state of a token. Checks the state only after a failure, as parsing takes
 * a tenth of a turn. Throws TokenRefused `malformed` for an unreadable state, without the message
 * of the program, which may quote it.
 */
export async function advanceFrom(
  program: Runnable,
  ...turn: Parameters<SagaEngine['advance']>
): Promise<Outcome> {
  const [state] = turn;
  let outcome: Outcome;
  try {
    outcome = await engineOf(program).advance(...turn);
  } catch (error) {
    if (error instanceof MalformedState) throw new TokenRefused('malformed');
    assertReadable(program, state);
    throw error;
  }
  const isUntouched =
    outcome.status === 'failed' && outcome.compensated.length + outcome.uncompensated.length === 0;
  if (isUntouched) assertReadable(program, state);
  return outcome;
}

/** Reads the timeline of the state of a token. Throws TokenRefused `malformed`. */
export function readTimeline(program: Program, state: ProgramState): readonly TimelineEntry[] {
  assertReadable(program, state);
  return engineOf(program).timeline(state);
}

/** `true` if the saga has passed a pivot, and can only continue. */
export function isPastPivot({ saga, program }: OpenSaga): boolean {
  return (
    program !== undefined &&
    readTimeline(program, saga.state.program).some(({ kind }) => kind === 'pivot')
  );
}

function assertReadable(
  program: Runnable,
  { structure, client, server, head }: ProgramState,
): void {
  try {
    const [, ...values] = [structure, client, server].map((text): unknown[] =>
      JSON.parse(`[${text}]`),
    );
    for (const value of values.flat()) decode(JSON.stringify(value));
    // Throws for entry types of newer releases.
    engineOf(program).timeline({ structure, client, server, head });
  } catch {
    throw new TokenRefused('malformed');
  }
}

/** `true` if another process may continue a saga: nothing ran, and the token stays valid. */
export function cannotContinue(error: unknown): error is ReplayMismatch | SagaHostError {
  return (
    error instanceof ReplayMismatch ||
    (error instanceof SagaHostError && error.code === 'version_gone')
  );
}

/**
 * `true` if a turn failed only because the code does not fit the journal, and nothing was undone.
 */
export function isUntouchedMismatch(
  turn: SagaTurn,
  { onMismatch }: Pick<Partial<Program>, 'onMismatch'>,
): turn is FailedTurn & { readonly error: ReplayMismatch } {
  return (
    onMismatch === 'fail' &&
    turn.status === 'failed' &&
    turn.error instanceof ReplayMismatch &&
    !turn.error.isFinal &&
    turn.compensated.length + turn.uncompensated.length === 0
  );
}

/** Reports to the operator that this process cannot continue a saga, with the reason. */
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
      `'${name}' (version '${version}') cannot continue after turn ${claims.turn}: the code does not match the journal. It ` +
        'changed while the saga ran, or the body varies between runs. The token is still valid: roll a change back, or ' +
        'release it as a new version; read the time with now(), and randomness with random().',
      { cause: error, public: false },
    ),
  );
}
