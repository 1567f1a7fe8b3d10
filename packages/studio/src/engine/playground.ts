import type { TestSaga } from '@mcp-saga/testing';
import type { World } from '@mcp-saga/testing/internal';
import type { Code } from '../model/session.ts';
import type { MachineTrace } from '../model/view.ts';

/** Name of a saga that a test cannot import: the file exports no saga, or a default. */
export const unnamed = 'yourSaga';

/**
 * Traces the machine of the next run, after that of an earlier run. Undefined until code with
 * machines is loaded.
 */
export const machines: {
  trace?: (world: World, earlier: MachineTrace | undefined) => () => MachineTrace | undefined;
} = {};

export interface Playground {
  readonly script: TestSaga;
  readonly check: (() => unknown) | undefined;
  /** Steps that may run twice or stay done. */
  readonly harmless: readonly string[];
  /**
   * Names of the file and of its export, for an exported test. `isScript` is `false` for a saga.
   */
  readonly exported: Readonly<Record<'file' | 'name', string>> & { readonly isScript: boolean };
}

/**
 * Evaluates versions of code without the state of an earlier run. The later ones share the outside
 * world of the first.
 */
export type Evaluate = (...versions: readonly Code[]) => Promise<readonly Playground[]>;

export function playgroundOf(
  script: TestSaga,
  exports: object,
  names: Playground['exported'],
): Playground {
  const { check, harmless = [] } = exports as Partial<Playground>;
  return { script, check, harmless, exported: names };
}
