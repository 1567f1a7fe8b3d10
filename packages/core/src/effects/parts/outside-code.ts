import type { RuntimeOutside } from '../../model/outside.ts';
import type { RuntimeObserver } from '../../model/runtime.ts';
import type { OutsideWork, StepGiven } from '../../model/step-context.ts';
import { AuthoringError } from '../../values/errors.ts';

// Shared by all copies of this package: the engine of one runs code of another.
const accessKey: unique symbol = Symbol.for('mcp-saga.outside');
const workKey: unique symbol = Symbol.for('mcp-saga.outside-work');

/** Answers of the host, and the path of the scope around a step. */
export interface OutsideAccess {
  readonly host: RuntimeOutside;
  readonly scope: string;
  readonly schemaFailed: RuntimeObserver['schemaFailed'];
}

/**
 * Makes code of a step or poll that reaches the answers of the host. The contexts of other steps do
 * not contain it.
 */
export function outsideCode<S>(
  work: OutsideWork,
  run: (step: S, outside: OutsideAccess) => unknown,
): (step: S) => unknown {
  const code = (step: S): unknown => {
    const { [accessKey]: outside } = step as { readonly [accessKey]?: OutsideAccess };
    if (outside === undefined) {
      throw new AuthoringError(
        'approval() and waitFor() need two options of the host: set `url`, its public URL, and `store`.',
        { anchor: 'missing_option' },
      );
    }
    return run(step, outside);
  };
  return Object.assign(code, { [workKey]: work });
}

/** Returns the work of code made by {@link outsideCode}. Undefined for other code. */
export function outsideWorkOf(code: object): OutsideWork | undefined {
  return (code as { readonly [workKey]?: OutsideWork })[workKey];
}

/** Adds the answers to the context of code that needs it. */
export function withOutside(
  host: RuntimeOutside,
  { schemaFailed }: Pick<RuntimeObserver, 'schemaFailed'>,
  path: string,
  code: object,
  step: StepGiven,
): StepGiven {
  if (outsideWorkOf(code) === undefined) return step;
  const scope = path.slice(0, path.lastIndexOf('/'));
  const access: OutsideAccess = { host, scope, schemaFailed };
  // Enumerable: a runtime may copy the context.
  return Object.assign({ ...step }, { [accessKey]: access });
}
