import type { EntryType } from '../journal/entry-types.ts';
import {
  ClientCannot,
  ElicitationRefused,
  StepError,
  StepTimedOut,
  type StepErrorData,
} from '../values/errors.ts';
import { effectOf, needOf, type EffectSpec } from './effect-of.ts';

/** What a body gets for a recorded outcome: a value, or something thrown. */
export interface BodyOutcome {
  readonly failed: boolean;
  readonly value: unknown;
}

/** Turns a journal entry into what the body sees: the same in the first run as on every replay. (R2) */
export function outcomeOf(spec: EffectSpec, path: string, type: EntryType, value: unknown): BodyOutcome {
  const own = effectOf(spec).toValue?.(spec, type, value);
  const error = own === undefined ? errorOf(spec, path, type, value) : undefined;
  return { failed: error !== undefined, value: error ?? own ?? value };
}

function errorOf(spec: EffectSpec, path: string, type: EntryType, value: unknown): Error | undefined {
  if (type === 'failed' || type === 'failedUnknown' || type === 'clientError')
    return new StepError(path, value as StepErrorData);
  if (type === 'timedOut') return new StepTimedOut(path);
  if (type === 'clientCannot') return new ClientCannot(path, needOf(spec));
  if (type === 'declined') return new ElicitationRefused(path, 'decline');
  return type === 'dismissed' ? new ElicitationRefused(path, 'cancel') : undefined;
}
