import type { ClientAnswer, Provenance } from '../model/client-step.ts';
import { effectOf, isAskedOfClient, type EffectSpec } from './effect-of.ts';
import type { Runtime } from '../model/runtime.ts';
import type { Question, Route } from '../model/question.ts';

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
