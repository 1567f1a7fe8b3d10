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

const nothing: BodyOutcome = { failed: false, value: undefined };

/** Turns a journal entry into what the body sees: the same in the first run as on every replay. (R2) */
export function outcomeOf(spec: JournalledSpec, path: string, letter: string, value: unknown): BodyOutcome {
  switch (letter) {
    case 'v':
    case 'k':
    case 'o':
    case 'w':
    case 'W':
      return nothing;
    case 'q':
    case 'f':
    case 'g':
      return { failed: true, value: new StepError(path, value as StepErrorData) };
    case 'y':
      return { failed: true, value: new StepTimedOut(path) };
    case 'C':
      return { failed: true, value: new ClientCannot(path, needOf(spec)) };
    case 'e':
    case 'p':
      return {
        failed: false,
        value: spec.kind === 'elicit' && spec.asOutcome ? { action: 'accept', content: value } : value,
      };
    case 'd':
    case 'x': {
      const action = letter === 'd' ? 'decline' : 'cancel';
      return spec.kind === 'elicit' && spec.asOutcome
        ? { failed: false, value: { action } }
        : { failed: true, value: new ElicitationRefused(path, action) };
    }
    default:
      return { failed: false, value };
  }
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
