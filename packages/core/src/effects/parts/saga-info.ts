import type { Journal } from '../../journal/journal.ts';
import type { Scope } from '../../values/path.ts';
import type { Runtime } from '../../model/runtime.ts';

/** Adds `answeredBy`, which reads the journal, to the facts of a saga. Not enumerable, so a result with it stays JSON. */
export function toSagaInfo(facts: unknown, scope: Scope, journal: Journal): unknown {
  const answeredBy = (id: string): unknown => journal.answeredBy(scope.prefix + id) ?? journal.answeredBy(id);
  return Object.defineProperty(facts as object, 'answeredBy', { value: answeredBy });
}

/** Facts about the current turn, as the journal stores them. */
export function infoIn(runtime: Runtime): unknown {
  const { sagaId, turn, tokenBytes, suggestedTokenBytes, capabilities } = runtime;
  const continueAsSuggested = tokenBytes >= suggestedTokenBytes;
  return { sagaId, turn, tokenBytes, capabilities, continueAsSuggested };
}
