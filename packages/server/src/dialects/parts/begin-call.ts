import { TokenRefused } from '@mcp-saga/seal';
import type { StepAnswer } from '../../wire/step-answers.ts';
import type { DialectTraits } from '../../model/dialect-traits.ts';
import { SagaHostError } from '../../wire/errors.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import type { SagaTurn } from '../../model/turn.ts';
import { WireError, type FrozenAnswer } from '../../wire/wire-error.ts';
import type { ClientCall } from '../../model/client-call.ts';
import { toModelAnswers } from '../../wire/answers-argument.ts';

// Not the method of the request: neither a saga token nor a request state opens as a resume token.
export const resumeTokenMethod = 'tools/call#resumeToken';

/** Answer to a rejected resume token. */
export const resumeTokenRefused: FrozenAnswer = {
  message: 'Invalid or expired resumeToken',
  reason: 'invalid_resume_token',
};

/** Begins a call, with `method` sealed as its method: starts the saga, or continues it from the resume token of the call. */
export async function beginCall(
  host: SagaHostCore,
  call: ClientCall,
  method: string,
  traits: DialectTraits,
): Promise<SagaTurn> {
  const { saga, args, caller } = call;
  const token = resumeTokenOf(call);
  if (token === undefined) return await host.start(saga.name, args, caller, { method, traits });
  // No interim result hands out a token of a saga that runs as a task only.
  if (saga.task === 'require') throw refusedToken();
  try {
    return await host.resume(token, answersOf(call, traits), caller, {
      methods: [resumeTokenMethod],
      method,
      entry: { target: saga.name, args },
      answersField: 'arguments.answers',
      provenance: 'model',
      traits,
    });
  } catch (error) {
    throw error instanceof TokenRefused ? refusedToken() : error;
  }
}

/** Reads the resume token of a call. Throws `invalid_params` for two different tokens, and for answers without a token. */
export function resumeTokenOf(call: ClientCall): string | undefined {
  if (call.method !== 'tools/call') return undefined;
  const [first, ...others] = tokensOf(call);
  if (first === undefined) {
    if (argumentsOf(call).answers !== undefined)
      throw invalid('arguments.answers: expected arguments.resumeToken beside it');
    return undefined;
  }
  const [field, token] = first;
  if (typeof token !== 'string') throw refusedToken();
  const other = others.find(([, another]) => another !== token);
  if (other !== undefined) throw invalid(`${field}: it is not the one in ${other[0]}. Send one of them`);
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
  ].filter(([, token]) => token !== undefined);
}

/** Answers of the calling model. Throws for answers to questions that the client asks the user. */
function answersOf(call: ClientCall, traits: DialectTraits): readonly StepAnswer[] {
  // Without an error, the model would be asked the same questions again.
  for (const [where, { answers }] of [['_meta', call.meta] as const, ['params', call.params ?? {}] as const])
    if (answers !== undefined) throw invalid(`${where}.answers: answers are taken in arguments.answers only`);
  const answers = toModelAnswers(argumentsOf(call).answers, 'arguments.answers');
  if (answers.some((answer) => isForUser(answer, traits))) {
    throw invalid(
      'arguments.answers: this client declared elicitation, so its user is asked, and not the model',
    );
  }
  return answers;
}

/** `true` if an answer fits only questions that the client asks the user. An answer without content may be to a URL. */
function isForUser(answer: StepAnswer, { asks = [] }: DialectTraits): boolean {
  const { action, content } = Object('result' in answer ? answer.result : undefined) as Record<
    string,
    unknown
  >;
  if (action === undefined) return false;
  return asks.includes('elicitation') && (content !== undefined || asks.includes('elicitation.url'));
}

function argumentsOf({ args }: ClientCall): { readonly resumeToken?: unknown; readonly answers?: unknown } {
  return Object(args) as { readonly resumeToken?: unknown; readonly answers?: unknown };
}

function refusedToken(): WireError {
  return new WireError(-32602, resumeTokenRefused.message, { reason: resumeTokenRefused.reason });
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${message}`);
}
