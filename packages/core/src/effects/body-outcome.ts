import type { EntryType } from '../journal/entry-types.ts';
import type { JournalledSpec } from '../model/command.ts';
import {
  ClientCannot,
  ElicitationRefused,
  StepError,
  StepTimedOut,
  type ClientNeed,
  type StepErrorData,
} from '../values/errors.ts';

/** What a body gets for a recorded outcome: a value, or something thrown. */
export interface BodyOutcome {
  readonly failed: boolean;
  readonly value: unknown;
}

/** Turns a journal entry into what the body sees: the same in the first run as on every replay. (R2) */
export function outcomeOf(spec: JournalledSpec, path: string, type: EntryType, value: unknown): BodyOutcome {
  if (type === 'failed' || type === 'failedUnknown' || type === 'clientError')
    return { failed: true, value: new StepError(path, value as StepErrorData) };
  if (type === 'timedOut') return { failed: true, value: new StepTimedOut(path) };
  if (type === 'clientCannot') return { failed: true, value: new ClientCannot(path, needOf(spec)) };
  const asOutcome = spec.kind === 'elicit' && spec.asOutcome;
  if (type === 'declined' || type === 'dismissed') {
    const action = type === 'declined' ? 'decline' : 'cancel';
    return asOutcome
      ? { failed: false, value: { action } }
      : { failed: true, value: new ElicitationRefused(path, action) };
  }
  return { failed: false, value: asOutcome ? { action: 'accept', content: value } : value };
}

/** What a client must be able to do for a command; `wait` for one that takes time. */
export function needOf({ kind }: JournalledSpec): ClientNeed | 'wait' {
  switch (kind) {
    case 'elicit':
      return 'elicitation';
    case 'elicitUrl':
      return 'elicitation.url';
    case 'sample':
      return 'sampling';
    case 'roots':
      return 'roots';
    case 'checkpoint':
    case 'step':
    case 'call':
    case 'now':
    case 'random':
    case 'uuid':
    case 'info':
    case 'sleep':
    case 'poll':
    case 'stepKey':
      return 'wait';
  }
}
