import { SagaError, type StepErrorData } from './errors.ts';

/**
 * What a body returned was refused, in a turn before this one: of the error's class nothing is left but what it says. It
 * is no step's error, since it was no step that returned it.
 */
export class ResultRefused extends SagaError {
  readonly #public: boolean;

  constructor({ name, message, code, public: isPublic }: StepErrorData) {
    super(message, { code: code ?? 'invalid_result' });
    this.name = name;
    this.#public = isPublic === true;
  }

  override get public(): boolean {
    return this.#public;
  }
}
