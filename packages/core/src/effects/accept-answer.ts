import { present, isJsonObject, isLargerThan, type Json } from '../values/json.ts';
import type { ClientAnswer, Provenance } from '../model/client-step.ts';
import type { ProgramLimits, Runtime } from '../model/runtime.ts';
import { agreementDigest } from '../values/fingerprint.ts';
import { effectOf, type EffectSpec, isAskedOfClient } from './effect-of.ts';
import type { Acceptance } from './parts/effect.ts';
import { accepted } from './parts/entries.ts';
import type { Question, Route } from '../model/question.ts';

/** A digest by which a repeated answer is recognised as the one given before. */
export function agreementOf(answer: ClientAnswer): number {
  return 'error' in answer
    ? agreementDigest({ error: { ...answer.error } as Json })
    : agreementDigest({ result: answer.result });
}

/**
 * Checks an answer of the client: parsed by the schema once and never again. Reasons name fields, never values.
 *
 * @param limits - larger answers meet no schema, as some schemas take far more than linear time
 * @param onError - receives what a schema throws
 */
export async function acceptAnswer(
  spec: EffectSpec,
  answer: ClientAnswer,
  { maxAnswerBytes = Number.POSITIVE_INFINITY }: Pick<ProgramLimits, 'maxAnswerBytes'>,
  onError: (error: unknown) => void,
): Promise<Acceptance> {
  if (isLargerThan(maxAnswerBytes, 'error' in answer ? answer.error : answer.result))
    return { reason: `it has more than ${maxAnswerBytes} bytes` };
  try {
    return await checkedAnswer(spec, answer);
  } catch (error) {
    // A schema that throws at an answer must not let a client fail the saga, and have it undone.
    onError(error);
    return { reason: 'this answer cannot be checked' };
  }
}

/** Checks an answer that was made here. Throws what the schema throws. */
export async function checkedAnswer(spec: EffectSpec, answer: ClientAnswer): Promise<Acceptance> {
  const given = { provenance: answer.provenance, agreement: agreementOf(answer) };
  if ('error' in answer) {
    const { code, message, data } = answer.error;
    const error = {
      name: 'ClientError',
      message,
      code,
      ...present({ data }),
    };
    return accepted('clientError', error, given);
  }
  const { result } = answer;
  if (!isJsonObject(result)) return { reason: 'result: expected an object' };
  return (await effectOf(spec).question?.accept(spec, result, given)) ?? { reason: 'nothing was asked' };
}

const methodNotFound = -32_601;

interface RoutedTask {
  readonly spec: EffectSpec;
  route: Route | undefined;
}

/** A command as a question, or undefined where it asks nothing. */
function questionOf(spec: EffectSpec): Question | undefined {
  const { question } = effectOf(spec);
  if (question === undefined) return undefined;
  return {
    need: question.need,
    accept: 'accept' in spec ? spec.accept : undefined,
    hasFallback: 'fallback' in spec && spec.fallback !== undefined,
  };
}

/** Where a question goes in this turn: the runtime says so, once. A way that it does not have leads nowhere. */
export function routeOf(task: RoutedTask, runtime: Pick<Runtime, 'route'>): Route | undefined {
  if (task.route !== undefined) return task.route;
  const question = questionOf(task.spec);
  if (question === undefined) return undefined;
  task.route = leadingRoute(question, runtime);
  return task.route;
}

/** Chooses between fallback, host, and `ClientCannot` for a question without the client. */
export function routeWithoutClient(spec: EffectSpec, runtime: Pick<Runtime, 'route'>): Route {
  const question = questionOf(spec);
  const route =
    question === undefined ? 'cannot' : leadingRoute({ ...question, isUnsupported: true }, runtime);
  return route === 'ask' ? 'cannot' : route;
}

function leadingRoute(question: Question, runtime: Pick<Runtime, 'route'>): Route {
  const route = runtime.route(question);
  const leads =
    route === 'fallback' ? question.hasFallback : route !== 'host' || question.need === 'sampling';
  return leads ? route : 'cannot';
}

/** `true` if a client answered "method not found": it declared a capability without having it. */
export function isUnsupported(answer: ClientAnswer): boolean {
  return 'error' in answer && answer.error.code === methodNotFound;
}

/** Whether a command waits for the client in this turn, and not for something that runs here. */
export function waitsForClient(task: RoutedTask, runtime: Pick<Runtime, 'route'>): boolean {
  if (!isAskedOfClient(task.spec.kind)) return false;
  return task.spec.kind === 'checkpoint' || routeOf(task, runtime) === 'ask';
}

/** Whether an answer from there counts: never a model's, where the author wants the client's. (T14) */
export function isAccepted(
  spec: EffectSpec,
  provenance: Provenance,
  runtime: Pick<Runtime, 'accepts'>,
): boolean {
  const question = questionOf(spec);
  if (question === undefined) return true;
  if (question.accept === 'client' && provenance === 'model') return false;
  return runtime.accepts(provenance, question);
}
