import { engineVersion, InvalidInput, type Program, type TimelineEntry } from '@mcp-saga/core';
import { createSecret, digestArguments, TokenRefused, type Claims, type Expectations } from '@mcp-saga/seal';
import { toAnswers, toJson, type StepAnswer } from './answers.ts';
import { principalOf, type Caller } from './caller.ts';
import { SagaHostError } from './errors.ts';
import { toHostSettings, type HostSettings, type SagaHostOptions } from './host-options.ts';
import { reported, runTurn } from './run-turn.ts';
import { toSealedSaga } from './sealed-saga.ts';
import { newTokenId } from './token-id.ts';
import type { SagaTurn } from './turn.ts';

/** How a request came, for the claims of the token it starts. Dialects set it; others leave it out. */
export interface StartRequest {
  /** The method of the protocol: sealed, and checked when the saga goes on. Default `host`. */
  readonly method?: string;
}

/** How a request came, for the checks of the token it brings. Dialects set it; others leave it out. */
export interface ResumeRequest {
  /** The methods that may have started the saga. Default: any. */
  readonly methods?: readonly string[];
  /** The call the client repeats, where the dialect repeats it. */
  readonly entry?: { readonly target: string; readonly args: unknown };
  /** The name of the field the answers came in, for errors. Default `answers`. */
  readonly answersField?: string;
}

/** What is in a token, for operators. No answers and no results. */
export interface SagaInspection {
  readonly sagaId: string;
  readonly keyId: string;
  readonly claims: Claims;
  readonly expired: boolean;
  /** What happened so far; undefined when the saga is not served here. */
  readonly timeline: readonly TimelineEntry[] | undefined;
  readonly tokenBytes: number;
}

/** Runs sagas and keeps nothing: between two requests all there is of a saga is the token its client holds. */
export interface SagaHostCore {
  /** The sagas it serves. */
  readonly sagas: readonly Program[];
  /** The completed options; for dialects. */
  readonly settings: HostSettings;
  /**
   * Starts a saga.
   *
   * @throws SagaHostError `unknown_saga`, `invalid_params`, `forbidden`, `principal_missing`
   * @throws TurnAborted when the caller's signal aborts
   */
  start(name: string, args: unknown, caller?: Caller, request?: StartRequest): Promise<SagaTurn>;
  /**
   * Continues a saga from its token. A failed saga is a turn like any other; the token before it stays as it is.
   *
   * @throws TokenRefused with one frozen message for whatever is wrong with the token
   * @throws AnswerConflict when a repeated answer is not what was answered before
   * @throws SagaHostError `invalid_params`, naming the field
   * @throws TurnAborted when the caller's signal aborts
   */
  resume(
    token: string,
    answers?: readonly StepAnswer[],
    caller?: Caller,
    request?: ResumeRequest,
  ): Promise<SagaTurn>;
  /** Ends a saga and undoes what it did. This version of the host does not offer it. */
  cancel(token: string, caller?: Caller): Promise<never>;
  /**
   * Opens a token to look at it, expired or not, whoever it belongs to: for operators, never for a client.
   *
   * @throws TokenRefused when it is not a token of this host
   */
  inspect(token: string): Promise<SagaInspection>;
}

/** Makes the part of a host that knows nothing of MCP: sagas, keys, and the rules by which they meet. */
export function createHostCore(options: SagaHostOptions): SagaHostCore {
  const settings = toHostSettings(options);
  return {
    sagas: [...settings.sagas.values()],
    settings,
    start: (name, args, caller = {}, request = {}) => start(settings, name, args, caller, request),
    resume: (token, answers, caller = {}, request = {}) => resume(settings, token, answers, caller, request),
    cancel: async () => {
      throw new SagaHostError('cancel_not_offered', 'This server does not offer to cancel sagas.');
    },
    inspect: (token) => inspect(settings, token),
  };
}

async function start(
  settings: HostSettings,
  name: string,
  args: unknown,
  caller: Caller,
  request: StartRequest,
): Promise<SagaTurn> {
  const program = settings.sagas.get(name);
  if (program === undefined) throw new SagaHostError('unknown_saga', `Unknown tool: ${printable(name)}`);
  const input = toJson(args ?? {}, 'arguments');
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    throw new SagaHostError('invalid_params', 'Invalid params: arguments: expected an object');
  const argsDigest = await digestArguments(input);
  const principal = await principalOf(caller, settings.principal);
  if (!(await settings.authorize(caller, program))) {
    throw new SagaHostError('forbidden', `Not allowed: ${program.name}`);
  }
  const sagaId = settings.sealer.newSagaId();
  if (!(await settings.admit({ principal, sagaId, turn: 1, bytes: 0 }))) {
    throw new SagaHostError('forbidden', `Not now: ${program.name}`);
  }
  const state = await begin(program, input);
  const born = settings.clock();
  const claims: Claims = {
    method: request.method ?? 'host',
    entry: { target: program.name, argsDigest },
    saga: { name: program.name, version: program.version },
    principal,
    engine: engineVersion,
    turn: 0,
    jti: newTokenId(),
    born,
    iat: born,
    exp: born,
  };
  const saga = { sagaId, claims, state: { program: state, secret: createSecret(), generation: 0 } };
  return await runTurn(settings, program, saga, new Map(), caller, 0);
}

async function begin(program: Program, input: Parameters<Program['begin']>[0]): ReturnType<Program['begin']> {
  try {
    return await program.begin(input);
  } catch (error) {
    if (error instanceof InvalidInput)
      throw new SagaHostError('invalid_params', error.message, { cause: error });
    throw error;
  }
}

async function resume(
  settings: HostSettings,
  token: string,
  sent: unknown,
  caller: Caller,
  request: ResumeRequest,
): Promise<SagaTurn> {
  const answers = toAnswers(sent, request.answersField ?? 'answers', 'client', settings.limits.maxAnswers);
  try {
    const principal = await principalOf(caller, settings.principal);
    const saga = toSealedSaga(
      await settings.sealer.open(token, await expectations(settings, principal, request)),
    );
    const { claims, sagaId } = saga;
    const program = settings.sagas.get(claims.saga.name);
    if (program === undefined) throw refusal('target');
    if (!(await settings.authorize(caller, program))) throw refusal('forbidden');
    const facts = { principal, sagaId, turn: claims.turn + 1, bytes: token.length };
    if (!(await settings.admit(facts))) throw refusal('not-admitted');
    if (claims.saga.version !== program.version) {
      const error = new SagaHostError(
        'version_gone',
        `'${program.name}' was changed while this call ran, and cannot go on. Call it again.`,
      );
      const ended = { saga: program.name, sagaId, turn: facts.turn, compensated: [], residue: [] };
      return reported(settings, { status: 'failed', error, ...ended }, settings.clock());
    }
    return await runTurn(settings, program, saga, answers, caller, token.length);
  } catch (error) {
    if (error instanceof TokenRefused) settings.reject(error.reason);
    throw error;
  }
}

async function expectations(
  settings: HostSettings,
  principal: string | null,
  request: ResumeRequest,
): Promise<Expectations> {
  const { methods, entry } = request;
  return {
    purpose: 'token',
    principal,
    engines: { min: 1, max: engineVersion },
    ...(methods === undefined ? {} : { methods }),
    ...(entry === undefined
      ? {}
      : {
          entry: {
            target: entry.target,
            argsDigest: await digestArguments(toJson(entry.args ?? {}, 'arguments')),
          },
        }),
    ...(settings.rejectIssuedBefore === undefined ? {} : { rejectIssuedBefore: settings.rejectIssuedBefore }),
  };
}

async function inspect(settings: HostSettings, token: string): Promise<SagaInspection> {
  const sealed = await settings.sealer.open(token, { purpose: 'token', ignoreExpiry: true });
  const { sagaId, claims, state } = toSealedSaga(sealed);
  return {
    sagaId,
    keyId: sealed.kid,
    claims,
    expired: claims.exp <= settings.clock(),
    timeline: settings.sagas.get(claims.saga.name)?.timeline(state.program),
    tokenBytes: token.length,
  };
}

function refusal(reason: ConstructorParameters<typeof TokenRefused>[0]): TokenRefused {
  return new TokenRefused(reason);
}

/** A name that a client chose, fit for an error message. */
function printable(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 128)) : `a ${typeof name}`;
}
