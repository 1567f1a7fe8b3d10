import {
  createMachine,
  type AnyStateMachine,
  type AnyStateNode,
  type DoneStateEvent,
} from 'xstate';
import { AuthoringError } from '@mcp-saga/core/program';

/**
 * Returns a machine that has the output of its final state, if its root has none: XState gives the
 * output of a final state to the root, which drops it. Throws AuthoringError for a machine that may
 * end without an output: its saga would fail for the missing result, after all effects have run.
 */
export function withOutput(
  name: string,
  machine: AnyStateMachine,
  hasResult: boolean,
): AnyStateMachine {
  const { root, config, implementations } = machine;
  if (root.output !== undefined || !canComplete(root)) return machine;
  if (root.type === 'parallel') {
    if (hasResult) return machine;
    throw withoutResult(name, '', 'Its regions complete together, so no state has its output.');
  }
  const silent = finalStatesOf(root).filter(({ output }) => output === undefined);
  if (silent.length > 0 && !hasResult) {
    const states = silent.map(({ key }) => `'${key}'`).join(', ');
    throw withoutResult(name, ` in ${states}`, 'Give each final state an `output`, or:');
  }
  return createMachine({ ...config, output: outputOfState } as never, implementations as never);
}

/** Output of the root: what XState gives it of the final state that was reached. */
function outputOfState({ event }: { readonly event: DoneStateEvent }): unknown {
  return event.output;
}

function withoutResult(name: string, where: string, advice: string): AuthoringError {
  return new AuthoringError(
    `Saga '${name}' would end without a result${where}. ${advice} Give createMachine({ … }) an \`output\`, or machineSaga a ` +
      '`result: ({ context, value }) => …`: a string, a tool result, or a value that matches the output schema.',
    { anchor: 'invalid_result' },
  );
}

/**
 * `true` if a state can complete. A parallel state completes with all of its regions. A final state
 * tagged `compensate` fails on purpose.
 */
function canComplete(state: AnyStateNode): boolean {
  return state.type === 'parallel'
    ? Object.values(state.states).every(canComplete)
    : finalStatesOf(state).length > 0;
}

function finalStatesOf({ states }: AnyStateNode): readonly AnyStateNode[] {
  return Object.values(states).filter(
    ({ type, tags }) => type === 'final' && !tags.includes('compensate'),
  );
}
