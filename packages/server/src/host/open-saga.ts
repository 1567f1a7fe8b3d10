import { engineVersion, orphan, type Program } from '@mcp-saga/core';
import { TokenRefused, type Expectations, type Sealed } from '@mcp-saga/seal';
import { principalOf, type Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import type { HostSettings } from './host-options.ts';
import { keptBytesOf } from './kept-bytes.ts';
import { toSealedSaga, type SealedSaga } from './sealed-saga.ts';

/** A saga that may go on: opened, its version found, its caller allowed. */
export interface OpenSaga {
  readonly saga: SealedSaga;
  /** The version the token names; undefined when it is gone. */
  readonly program: Program | undefined;
  /** The version that is started now. */
  readonly current: Program;
}

/** What a request expects of its token; the host adds what it expects of all. */
export type TokenExpectations = Omit<
  Expectations,
  'purpose' | 'principal' | 'engines' | 'rejectIssuedBefore'
>;

/** Opens a token for a turn, and makes every check that comes before the guard. */
export async function openSaga(
  settings: HostSettings,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const opened = await openForCaller(settings, token, caller, expect);
  const { claims, sagaId } = opened.saga;
  const keptBytes = keptBytesOf(settings, opened.saga, token.length);
  const facts = {
    principal: claims.principal,
    sagaId,
    turn: claims.turn + 1,
    bytes: token.length,
    keptBytes,
  };
  // The token is good, and stays so: a client that is told so comes again.
  if (!(await settings.admit(facts))) throw notAdmitted();
  return opened;
}

/** Opens a token for whoever may go on with it. All that can be wrong is a `TokenRefused`. */
export async function openForCaller(
  settings: HostSettings,
  token: string,
  caller: Caller,
  expect: TokenExpectations,
): Promise<OpenSaga> {
  const principal = await principalOf(caller, settings.principal);
  const { rejectIssuedBefore } = settings;
  const sealed = await settings.sealer.open(token, {
    ...expect,
    purpose: 'token',
    principal,
    engines: { min: 1, max: engineVersion },
    ...(rejectIssuedBefore === undefined ? {} : { rejectIssuedBefore }),
  });
  const opened = found(settings, sealed);
  if (!(await settings.authorize(caller, opened.program ?? opened.current)))
    throw new TokenRefused('forbidden');
  return opened;
}

/**
 * Opens the token of a turn that this request was answered with, to go on from it before anybody sees it. Its caller was let in,
 * and the turn is under way: nobody is asked whether it may run, and no time is too late for it.
 */
export async function openOwn(settings: HostSettings, token: string): Promise<OpenSaga> {
  // One that no client gets may be larger than others.
  return found(settings, await settings.responses.open(token, { purpose: 'token', ignoreExpiry: true }));
}

/** The saga in an opened token, with its code. */
export function found(settings: HostSettings, sealed: Sealed): OpenSaga {
  const saga = toSealedSaga(sealed);
  const { name, version } = saga.claims.saga;
  const current = settings.registry.named(name);
  if (current === undefined) throw new TokenRefused('target');
  return { saga, program: settings.registry.version(name, version, settings.clock()), current };
}

/** The error of a turn that may not run now. */
export function notAdmitted(): SagaHostError {
  return new SagaHostError('not_admitted', 'Not now. Send it again later.');
}

/** The error of a saga whose version is gone. */
export function versionGone({ claims }: SealedSaga): SagaHostError {
  const { name, version } = claims.saga;
  const cause = new SagaHostError(
    'version_gone',
    `This host does not serve version '${version}' of '${name}', or its \`until\` has passed. To let it go on, give the newer ` +
      'one previous: [{ saga: old }].',
    { public: false },
  );
  return new SagaHostError(
    'version_gone',
    `'${name}' cannot go on: the version this call began with is no longer served.`,
    { cause },
  );
}

/** Whether a saga was not gone on with because its version is gone, and nothing was run. */
export function isVersionGone(error: unknown): boolean {
  return error instanceof SagaHostError && error.code === 'version_gone';
}

/**
 * What stands in for the code of a saga whose version is gone: it undoes what has a named compensator.
 *
 * @param isBegun - whether the turn was begun and never finished: what it may have done is residue then
 */
export function standIn(
  { saga, program }: OpenSaga,
  isBegun: boolean = false,
): Pick<Program, 'advance' | 'asked'> & Partial<Program> {
  const { saga: of, turn } = saga.claims;
  if (program !== undefined) return program;
  // What a version that is gone had declared, nobody knows: it is guarded where it can be, and its queue told.
  return { forks: 'refuse', ...orphan(of.name, versionGone(saga), isBegun ? `turn ${turn + 1}` : undefined) };
}
