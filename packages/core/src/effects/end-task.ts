import { present, isJsonObject, isLargerThan, type Json } from '../values/json.ts';
import type { ClientAnswer, Provenance } from '../model/client-step.ts';
import type { ProgramLimits, RuntimeQuestions, Runtime } from '../model/runtime.ts';
import { agreementDigest } from '../values/fingerprint.ts';
import { effectOf, type EffectSpec, isAskedOfClient } from './effect-of.ts';
import type { Acceptance, EffectTask, TaskEnd } from './parts/effect.ts';
import { accepted, ended } from './parts/effect-entries.ts';
import type { Question, Route } from '../model/question.ts';
import type { AuthoringError } from '../values/errors.ts';
import { CodecError, decode } from '../values/codec.ts';
import { encodeError } from '../values/step-error-data.ts';
import { keyText } from './parts/run-code.ts';

/** Digest that identifies a repeated answer. */
export function agreementOf(answer: ClientAnswer): number {
  return 'error' in answer
    ? agreementDigest({ error: { ...answer.error } as Json })
    : agreementDigest({ result: answer.result });
}

/** `true` for an answer over the limit. The host replaces the content of such answers. */
export function isOverLimit(
  answer: ClientAnswer,
  maxAnswerBytes: number = Number.POSITIVE_INFINITY,
): boolean {
  return isLargerThan(maxAnswerBytes, 'error' in answer ? answer.error : answer.result);
}

/**
 * Checks an answer of the client: parsed by the schema once and never again. Reasons name fields,
 * never values. An error of the schema ends the step: asked again, the client could only give an
 * answer at which the schema throws again.
 * @param limits - larger answers are rejected unparsed: some schemas take far more than linear time
 * @param onError - receives errors of the schema
 */
export async function acceptAnswer(
  spec: EffectSpec,
  answer: ClientAnswer,
  { maxAnswerBytes }: Pick<ProgramLimits, 'maxAnswerBytes'>,
  onError: (error: unknown) => void,
): Promise<Acceptance> {
  if (isOverLimit(answer, maxAnswerBytes))
    return { reason: `it has more than ${maxAnswerBytes} bytes` };
  try {
    return await checkedAnswer(spec, answer);
  } catch (error) {
    onError(error);
    const text = encodeError(error);
    return { entry: { type: 'failed', text }, value: decode(text) };
  }
}

/** Checks an answer of the server. Throws errors of the schema. */
async function checkedAnswer(spec: EffectSpec, answer: ClientAnswer): Promise<Acceptance> {
  const given = { provenance: answer.provenance, agreement: agreementOf(answer) };
  if ('error' in answer) {
    const { code, message, data } = answer.error;
    const error = { name: 'ClientError', message, code, ...present({ data }) };
    try {
      return accepted('clientError', error, given);
    } catch (thrown) {
      // The client sent what no journal holds, so the client can send it otherwise.
      if (thrown instanceof CodecError) return { reason: 'error.data: nested too deeply' };
      throw thrown;
    }
  }
  const { result } = answer;
  if (!isJsonObject(result)) return { reason: 'result: expected an object' };
  return (
    (await effectOf(spec).question?.accept(spec, result, given)) ?? { reason: 'nothing was asked' }
  );
}

const methodNotFound = -32_601;

interface RoutedTask {
  readonly spec: EffectSpec;
  route: Route | undefined;
}

/** Question of a command. Undefined for other commands. */
function questionOf(spec: EffectSpec): Question | undefined {
  const { question } = effectOf(spec);
  if (question === undefined) return undefined;
  return {
    need: question.need(spec),
    answeredBy: 'answeredBy' in spec ? spec.answeredBy : undefined,
    hasFallback: 'fallback' in spec && spec.fallback !== undefined,
  };
}

/**
 * Route of a question in this turn, chosen once. A route that the question does not support is
 * `cannot`.
 */
export function routeOf(
  task: RoutedTask,
  questions: Pick<RuntimeQuestions, 'route'>,
): Route | undefined {
  if (task.route !== undefined) return task.route;
  const question = questionOf(task.spec);
  if (question === undefined) return undefined;
  task.route = leadingRoute(question, questions);
  return task.route;
}

/**
 * Route of a question that the client does not support: the next answerer of the order. `ask`: the
 * question stays open, for the model that calls.
 */
export function routeWithoutClient(
  spec: EffectSpec,
  questions: Pick<RuntimeQuestions, 'route'>,
): Route {
  const question = questionOf(spec);
  return question === undefined
    ? 'cannot'
    : leadingRoute({ ...question, isUnsupported: true }, questions);
}

function leadingRoute(question: Question, questions: Pick<RuntimeQuestions, 'route'>): Route {
  const route = questions.route(question);
  const leads =
    route === 'fallback'
      ? question.hasFallback
      : route !== 'host' || question.need.startsWith('sampling');
  return leads ? route : 'cannot';
}

/** `true` if a client answered "method not found" despite the declared capability. */
export function isUnsupported(answer: ClientAnswer): boolean {
  return 'error' in answer && answer.error.code === methodNotFound;
}

/** `true` if a command waits for the client in this turn, not for server code. */
export function waitsForClient(
  task: RoutedTask,
  questions: Pick<RuntimeQuestions, 'route'>,
): boolean {
  if (!isAskedOfClient(task.spec.kind)) return false;
  return task.spec.kind === 'checkpoint' || routeOf(task, questions) === 'ask';
}

/**
 * `true` if an answer of that origin counts. An answer of the model never counts if the author
 * leaves it out.
 */
export function isAccepted(
  spec: EffectSpec,
  provenance: Provenance,
  questions: Pick<RuntimeQuestions, 'accepts'>,
): boolean {
  const question = questionOf(spec);
  if (question === undefined) return true;
  if (provenance === 'model' && question.answeredBy?.includes('model') === false) return false;
  return questions.accepts(provenance, question);
}

/** How a turn runs one task. */
export interface TaskRun {
  readonly signal: AbortSignal;
  /** Bytes of the token that the outcome of the task may take. */
  readonly share: () => Promise<number>;
  /** Error to end the task with, in place of running it. */
  readonly refused: AuthoringError | undefined;
}

/** Runs a task that does not wait for the client. Never rejects. */
export async function runTask(
  task: EffectTask<EffectSpec>,
  runtime: Runtime,
  { signal, share, refused }: TaskRun,
): Promise<TaskEnd> {
  const { spec, path } = task;
  try {
    if (refused !== undefined) throw refused;
    const { run } = effectOf(spec);
    return run === undefined
      ? await answerHere(spec, path, runtime, signal)
      : await run(task, runtime, signal, share);
  } catch (error) {
    runtime.observer.threw?.(path, error);
    return ended(task.unknown ? 'unknown' : 'failed', encodeError(error));
  }
}

/**
 * Answers a question by its fallback or the host's model, with the checks of client answers. The
 * entry stays out of the client stream. Throws errors of the fallback, and a TypeError if the
 * answer does not fit.
 */
export async function answerHere(
  spec: EffectSpec,
  path: string,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<Extract<Acceptance, { entry: unknown }>> {
  const answers = effectOf(spec).question?.answerHere;
  if (answers === undefined) throw new TypeError(`${spec.kind} does not run here`);
  const facts = { kind: spec.kind, path, attempt: 1 };
  runtime.observer.observe({ type: 'started', ...facts });
  try {
    const idempotencyKey = keyText(await runtime.effects.idempotencyKey(path, undefined, 'do'));
    const given = await answers.run(spec, path, runtime, {
      services: runtime.effects.services,
      user: runtime.request.user,
      signal,
      idempotencyKey,
    });
    // As received over the wire.
    const result = JSON.parse(JSON.stringify(given)) as Json;
    const answer = await checkedAnswer(spec, { result, provenance: 'server' });
    if ('reason' in answer)
      throw new TypeError(`The answer to '${path}' is invalid: ${answer.reason}`);
    runtime.observer.observe({ type: 'succeeded', ...facts });
    return { ...answer, entry: { ...answer.entry, type: answers.type } };
  } catch (error) {
    runtime.observer.observe({ type: 'failed', error, ...facts });
    throw error;
  }
}
