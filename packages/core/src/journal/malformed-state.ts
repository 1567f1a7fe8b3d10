import { SagaError } from '../values/errors.ts';

/**
 * A state that no release of the engine writes, although its seal is good. Not an error of the saga:
 * nothing may run or be undone because of it. The host refuses the token. The message has no part of
 * the state.
 */
export class MalformedState extends SagaError {
  protected static override readonly className: string = 'MalformedState';
  declare readonly code: 'malformed_state';

  constructor() {
    super('The state of the saga is malformed.', { code: 'malformed_state', public: false });
    this.name = 'MalformedState';
  }
}

/** Parses the texts of a stream: JSON values with commas between them. */
export function parseTexts(texts: string): unknown[] {
  try {
    return JSON.parse(`[${texts}]`) as unknown[];
  } catch {
    throw new MalformedState();
  }
}
