import { engineVersion, orphan, type Program } from '@mcp-saga/core';
import { TokenRefused, type Expectations, type Sealed } from '@mcp-saga/seal';
import { assertBegun } from './assert-begun.ts';
import { principalOf, type Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import type { SealedToken } from './handles.ts';
import type { HostSettings } from './host-options.ts';
import { laterForNewerEngine } from './newer-engine.ts';
import { keptBytesOf } from './kept-bytes.ts';
import { toSealedSaga, type SealedSaga } from './sealed-saga.ts';

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

/** What a request expects of its token; the host adds what it expects of all. */
export type TokenExpectations = Omit<
  Expectations,
  'purpose' | 'principal' | 'engines' | 'rejectIssuedBefore' | 'allowFuture'
> & {
  /** Purpose of what was sent. Default `token`. */
  readonly purpose?: SealedToken['purpose'];
};

/** Opens a token for a turn, and makes every check that comes before the guard. */
export async function openSaga(
  settings: HostSettings,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const opened = await openForCaller(settings, token, caller, expect);
  const { claims, sagaId } = opened.saga;
  const facts = {
    principal: claims.principal,
    sagaId,
    turn: claims.turn + 1,
    bytes: token.length,
    inflatedBytes: opened.inflatedBytes,
    keptBytes: keptBytesOf(settings, opened.saga, token.length),
  };
  // The token is good, and stays so: a client that is told so comes again.
  if (!(await settings.admit(facts))) throw notAdmitted();
  return opened;
}

/**
 * Opens a token for a caller that may continue its saga.
 *
 * @throws TokenRefused for everything that is wrong with the token
 * @throws SagaHostError `clock_behind` if the token was issued in the future of this host, `version_gone` if a newer release
 * sealed it
 */
export async function openForCaller(
  settings: HostSettings,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const principal = await principalOf(caller, settings.principal);
  const { rejectIssuedBefore } = settings;
  const expected: Expectations = {
    ...expect,
    purpose: expect.purpose ?? 'token',
    principal,
    engines: { min: 1, max: engineVersion },
    allowFuture: true,
    ...(rejectIssuedBefore === undefined ? {} : { rejectIssuedBefore }),
  };
  const sealed = await openSealed(settings, token, expected);
  if (!(await settings.authorize(caller, { ...sealed.claims.saga }))) throw new TokenRefused('forbidden');
  const saga = found(settings, sealed);
  assertBegun(settings, saga.saga.claims);
  return saga;
}

/** Opens a token. Throws a retryable error for one of a newer release. */
export async function openSealed(
  settings: Pick<HostSettings, 'sealer' | 'reject'>,
  token: string,
  expect: Expectations,
): Promise<Sealed> {
  try {
    return await settings.sealer.open(token, expect);
  } catch (error) {
    throw laterForNewerEngine(settings, error);
  }
}

/**
 * Opens the token of a turn that this request was answered with, to go on from it before anybody sees it. Its caller was let in,
 * and the turn is under way: nobody is asked whether it may run, and no time is too late for it.
 */
export async function openOwn(settings: HostSettings, token: string): Promise<OpenSaga> {
  // One that no client gets may be larger than others.
  return found(
    settings,
    await settings.responses.open(token, { purpose: 'token', ignoreExpiry: true, allowFuture: true }),
  );
}

/**
 * Returns the saga in an opened token, with its code.
 *
 * @throws TokenRefused if this host serves neither the saga nor the tool that the client called
 * @throws SagaHostError `version_gone` if this host serves the tool only: newer code continues it as another saga
 */
export function found(settings: HostSettings, sealed: Sealed): OpenSaga {
  const saga = toSealedSaga(sealed);
  const { name, version } = saga.claims.saga;
  const current = settings.registry.named(name);
  if (current === undefined) throw isServed(settings, saga) ? versionGone(saga) : new TokenRefused('target');
  const program = settings.registry.version(name, version, settings.clock());
  const inflatedBytes = sealed.streams.reduce((sum, { length }) => sum + length, 0);
  return { saga, program, current, inflatedBytes };
}

function isServed({ registry }: HostSettings, { claims }: SealedSaga): boolean {
  return registry.named(claims.entry.target) !== undefined;
}

/** The error of a turn that may not run now. */
export function notAdmitted(): SagaHostError {
  return new SagaHostError('not_admitted', 'Not now. Send it again later.');
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
