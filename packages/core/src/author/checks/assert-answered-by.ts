import type { Answerer } from '../../model/answerer.ts';
import { AuthoringError } from '../../values/errors.ts';

const answerers: readonly unknown[] = ['client', 'model', 'fallback'];

/**
 * Checks who may answer. The person at the client comes before a model: a model that may answer
 * first would never let the person decide.
 */
export function assertAnsweredBy(of: string, answeredBy: readonly Answerer[] | undefined): void {
  if (answeredBy === undefined) return;
  const given: unknown = answeredBy;
  const isList =
    Array.isArray(given) &&
    given.length > 0 &&
    new Set(given).size === given.length &&
    given.every((answerer) => answerers.includes(answerer));
  if (!isList)
    throw new AuthoringError(
      `answeredBy of ${of} must be a list of 'client', 'model', and 'fallback', each at most once.`,
      { anchor: 'questions' },
    );
  const client = answeredBy.indexOf('client');
  const model = answeredBy.indexOf('model');
  if (model !== -1 && (client === -1 || client > model))
    throw new AuthoringError(
      `answeredBy of ${of} has 'model' without 'client' before it: the person at the client is asked first. Write ['client', 'model'].`,
      { anchor: 'questions' },
    );
}
