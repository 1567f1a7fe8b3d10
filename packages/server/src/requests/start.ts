import { InvalidInput, type Json, type Program } from '@mcp-saga/core';
import { engineVersion, type Origin, type ProgramState, engineOf } from '@mcp-saga/core/program';
import {
  canonicalize,
  createSecret,
  digestArguments,
  digestText,
  TokenRefused,
  type Claims,
} from '@mcp-saga/seal';
import { toArguments, toJson } from '../wire/step-answers.ts';
import { drive, isUsed } from './drive.ts';
import { principalOf, rateLimited } from './open-for-caller.ts';
import { requestWithoutAnswers } from './requested-turn.ts';
import { isKeyForm, startName } from './start-name.ts';
import type { Caller } from '../model/caller.ts';
import { invalidField, SagaHostError } from '../wire/errors.ts';
import type { StartRequest } from '../model/request-types.ts';
import type { SealedSaga } from '../model/sealed-saga.ts';
import { type HostParts, mayHaveUndos } from '../settings/host-parts.ts';
import { roomBeside, unsealedBytes } from '../token/token-room.ts';
import { assertNeeds } from '../turn/answer-routes.ts';
import { servedAs } from '../settings/registry.ts';
import type { SagaTurn } from '../model/turn.ts';

/** Starts a saga, and runs its first turn. */
export async function start(
  host: HostParts,
  name: string,
  args: unknown,
  caller: Caller,
  request: StartRequest,
): Promise<SagaTurn> {
  const program = host.registry.named(name);
  const { serves } = request;
  if (program === undefined || (serves !== undefined && serves !== servedAs(program)))
    throw unknownSaga(host, name, serves);
  const input = toArguments(args, host.limits);
  const argsDigest = await digestArguments(input);
  const principal = await principalOf(caller, host.gate);
  if (!(await host.gate.authorize(caller, program))) {
    throw new SagaHostError('forbidden', `Not allowed: ${program.name}`);
  }
  const sagaId = host.keys.sealer.newSagaId();
  const nothing = { bytes: 0, inflatedBytes: 0, keptBytes: 0 };
  if (!(await host.gate.rateLimit({ principal, sagaId, turn: 1, ...nothing }))) {
    throw rateLimited();
  }
  const { dialect = {}, holder = { kind: 'client' } } = request;
  assertNeeds({ host, program, caller, dialect }, program);
  // Only dialects set a method, and forward arguments of a client.
  const origin = request.method === undefined ? 'server' : 'client';
  const state = await begin(program, input, origin);
  const born = host.timing.clock();
  // Prompts and resources have no effects.
  const clientKey = servedAs(program) === 'tool' ? caller.clientKey?.() : undefined;
  // A client that relies on its key must know that it does not count.
  if (clientKey !== undefined && !isKeyForm(clientKey.key))
    throw invalidField('idempotencyKey: expected a string of 1 to 256 characters');
  const named =
    clientKey &&
    (await startName(host, clientKey, {
      principal,
      tool: program.name,
      argsDigest,
      ...(request.early === undefined ? {} : { answersDigest: await digestEarly(request.early) }),
    }));
  // With a store, only a name is derived from the key of the client: nobody who knows a key can
  // predict anything of a saga. Without one, a repetition must at least send the same idempotency
  // keys. A saga that can undo may not: a provider knows the key of an effect that was undone.
  const isKept = named !== undefined && host.guard !== undefined;
  const secret =
    isKept || named === undefined || mayHaveUndos(host, program)
      ? createSecret()
      : await host.keys.sealer.deriveSecret(named);
  const claims: Claims = {
    method: request.method ?? 'host',
    entry: { target: program.name, argsDigest },
    saga: { name: program.name, version: program.version },
    principal,
    engine: engineVersion,
    turn: 0,
    // No token has these claims. The guard knows a start by its name.
    jti: isKept ? named : sagaId,
    born,
    iat: born,
    exp: born,
  };
  const saga = {
    sagaId,
    claims,
    state: { program: state, secret, generation: 0, ...(isKept ? { isNamed: true as const } : {}) },
    tokenBytes: 0,
  };
  await assertFits(host, saga);
  const opened = { saga, program, current: program };
  const first = {
    ...requestWithoutAnswers(host, opened, { holder, dialect }),
    // A repeated start wants the newest turn, whatever has used the tokens before it.
    follows: true,
    learnsEnd: true,
    mayStay: false,
    // The first call may have been made by another method.
    method: request.method,
  };
  if (!isKept) return (await drive(host, first, caller)).turn;
  try {
    const taken = await drive(host, first, caller);
    // The saga has gone on where this request cannot follow.
    if (taken.isUsed === true || isExpired(host, taken.turn)) throw alreadyStarted(program.name);
    return taken.turn;
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    // The response is forgotten, or cannot be opened here.
    if (!isUsed(error)) host.observer.reject(error.reason);
    throw alreadyStarted(program.name);
  }
}

/** `true` if a turn has a token that is no longer good. */
function isExpired({ timing }: HostParts, turn: SagaTurn): boolean {
  return turn.status === 'suspended' && turn.expiresAt <= timing.clock();
}

/**
 * Makes the error of a repeated start whose saga has gone on without it, or ended so long ago that
 * its result is forgotten.
 */
function alreadyStarted(saga: string): SagaHostError {
  return new SagaHostError(
    'already_started',
    `This call of '${saga}' was started before, and its result is no longer known. It was not started again.`,
  );
}

/** Digest of the answers that came with a start. */
async function digestEarly(early: unknown): Promise<string> {
  return await digestText(canonicalize(toJson(early, 'inputResponses')));
}

/**
 * Refuses arguments that leave no room in a token for a question and its answer. Otherwise the saga
 * would fail for its size after its first steps.
 */
async function assertFits(host: HostParts, saga: SealedSaga): Promise<void> {
  const { maxTokenBytes } = host.limits;
  const { client, server } = saga.state.program;
  const least = maxTokenBytes / 16;
  // Compresses only what might not fit as it is. A character is at most three bytes.
  if (3 * (client.length + server.length) < unsealedBytes(maxTokenBytes) / 2) return;
  if ((await roomBeside(host, saga, saga.state.program)) >= least) return;
  throw invalidField(
    `arguments: they do not fit a token of ${maxTokenBytes} bytes. Send references to large values.`,
  );
}

async function begin(program: Program, input: Json, origin: Origin): Promise<ProgramState> {
  try {
    return await engineOf(program).begin(input, undefined, origin);
  } catch (error) {
    if (error instanceof InvalidInput)
      throw new SagaHostError('invalid_params', error.message, { cause: error });
    throw error;
  }
}

/**
 * Makes the error for an unknown saga. Names the known sagas only in the cause, and to the log in
 * development.
 */
function unknownSaga(host: HostParts, name: unknown, serves: Program['serves']): SagaHostError {
  const asked = `Unknown ${serves ?? 'saga'}: ${printable(name)}`;
  const served = host.registry.current.filter(
    (program) => (serves ?? servedAs(program)) === servedAs(program),
  );
  const names = `There are: ${served.map((program) => `'${program.name}'`).join(', ') || 'none'}.`;
  if (host.observer.develops) host.observer.hooks.onWarning(`${asked}. ${names}`);
  return new SagaHostError('unknown_saga', asked, {
    cause: new SagaHostError('unknown_saga', names, { public: false }),
  });
}

/** Truncates a name from a client, for an error message. */
function printable(name: unknown): string {
  return typeof name === 'string' ? JSON.stringify(name.slice(0, 128)) : `a ${typeof name}`;
}
