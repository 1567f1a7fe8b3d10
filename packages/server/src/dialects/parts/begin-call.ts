import { present } from '@mcp-saga/core/program';
import { TokenRefused } from '@mcp-saga/seal';
import { AnswerConflict } from '@mcp-saga/core';
import type { StepAnswer } from '../../wire/step-answers.ts';
import type { DialectCapabilities } from '../../model/dialect-capabilities.ts';
import { invalidField, SagaHostError } from '../../wire/errors.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { Holder } from '../../model/holder.ts';
import type { SagaTurn } from '../../model/turn.ts';
import { resumeTokenMethod } from '../../token/sealed-saga.ts';
import { frozenError, type FrozenAnswer } from '../../wire/wire-error.ts';
import type { ClientCall } from '../../model/call-types.ts';
import {
  InvalidAnswers,
  toModelAnswers,
  toResumeToken,
  withoutContinuation,
} from './model-arguments.ts';

const answersField = 'arguments.answers';

/**
 * Fixed response to a rejected resume token. Clients show it to the model, which can only copy the
 * token again, or give up.
 */
export const resumeTokenRefused: FrozenAnswer = {
  message:
    'Invalid or expired resumeToken. Send the exact resumeToken of the newest result, with the same arguments as before. ' +
    'To start anew, omit resumeToken and answers: finished steps then run again.',
  reason: 'invalid_resume_token',
};

/**
 * Begins a call under a sealed `method`: starts the saga, or continues it from the resume token of
 * the call.
 * @param holder - who takes the next turn
 *
 * Wrong answers do not end the call. Clients hide JSON-RPC errors from the model, so the questions
 * are asked again, with a new token and the reason.
 */
export async function beginCall(
  host: SagaHostCore,
  call: ClientCall,
  method: string,
  dialect: DialectCapabilities,
  holder: Holder = { kind: 'client' },
): Promise<SagaTurn> {
  const { saga, args, caller } = call;
  const token = resumeTokenOf(call);
  if (token === undefined)
    return await host.start(saga.name, withoutContinuation(args), caller, {
      method,
      dialect,
      holder,
      ...present({ early: call.inputResponses }),
    });
  // Interim results never contain tokens of sagas that only run as tasks.
  if (saga.task === 'require') throw frozenError(resumeTokenRefused);
  assertNoOtherAnswers(call);
  const resume = async (answers: readonly StepAnswer[]): Promise<SagaTurn> =>
    await host.resume(token, answers, caller, {
      methods: [resumeTokenMethod],
      method,
      entry: { target: saga.name, args },
      answersField,
      provenance: 'model',
      dialect,
      holder,
    });
  try {
    return await resumeOrAskAgain(resume, argumentsOf(call).answers);
  } catch (error) {
    throw error instanceof TokenRefused ? frozenError(resumeTokenRefused) : error;
  }
}

async function resumeOrAskAgain(
  resume: (answers: readonly StepAnswer[]) => Promise<SagaTurn>,
  answers: unknown,
): Promise<SagaTurn> {
  try {
    return await resume(toModelAnswers(answers, answersField) ?? []);
  } catch (error) {
    // Both are thrown before the answers change anything. An error that is not about the answers
    // is thrown again without them.
    const isWrongAnswer =
      error instanceof AnswerConflict ||
      (error instanceof SagaHostError && error.code === 'invalid_params');
    if (!isWrongAnswer) throw error;
    const turn = await resume([]);
    // The saga has ended by other answers to this token: there is no question to correct these at.
    if (error instanceof AnswerConflict && turn.status !== 'suspended') throw error;
    return { ...turn, invalidAnswers: error.message };
  }
}

/**
 * Reads the resume token of a call. Throws `invalid_params` for two different tokens, and for
 * answers without a token.
 */
export function resumeTokenOf(call: ClientCall): string | undefined {
  if (call.method !== 'tools/call') return undefined;
  const [first, ...others] = tokensOf(call);
  if (first === undefined) {
    if (toModelAnswers(argumentsOf(call).answers, answersField) !== undefined)
      throw new InvalidAnswers(
        `${answersField}: requires arguments.resumeToken, copied from the last result. To start anew, omit both.`,
      );
    return undefined;
  }
  const [field, token] = first;
  if (typeof token !== 'string') throw frozenError(resumeTokenRefused);
  const other = others.find(([, another]) => another !== token);
  if (other !== undefined)
    throw invalidField(`${field}: differs from ${other[0]}. Send a single token`);
  return token;
}

/** `true` if a call has a resume token. */
export function isResumed(call: ClientCall): boolean {
  return call.method === 'tools/call' && tokensOf(call).length > 0;
}

function tokensOf(call: ClientCall): readonly (readonly [field: string, token: unknown])[] {
  return [
    ['arguments.resumeToken', argumentsOf(call).resumeToken] as const,
    ['params.resumeToken', call.params?.['resumeToken']] as const,
    ['_meta.resumeToken', call.meta['resumeToken']] as const,
  ]
    .map(([field, sent]) => [field, toResumeToken(sent)] as const)
    .filter(([, token]) => token !== undefined);
}

/** Throws `invalid_params` for answers in another place, which would be asked again for ever. */
function assertNoOtherAnswers({ meta, params = {} }: ClientCall): void {
  for (const [where, { answers }] of [['_meta', meta] as const, ['params', params] as const])
    if (answers !== undefined)
      throw invalidField(`${where}.answers: send answers in ${answersField}`);
}

function argumentsOf({ args }: ClientCall): {
  readonly resumeToken?: unknown;
  readonly answers?: unknown;
} {
  return Object(args) as { readonly resumeToken?: unknown; readonly answers?: unknown };
}
