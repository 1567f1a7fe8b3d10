import { TurnAborted, type Program, type TimelineEntry } from '@mcp-saga/core';
import {
  decodeHead,
  runtimeAfter,
  TurnBudget,
  type CommitPoint,
  type ClientAnswer,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/core/program';
import { Ledger } from '../effects/ledger.ts';
import { MachineTurn } from './machine-turn.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import { goOnUndoing, isUndoing, undoSaga } from '../effects/undo-saga.ts';

/** Makes a program of a machine. `begun` begins with the same arguments: until a machine starts, they are its state. */
export function machineProgram(
  options: MachineProgramOptions,
  begun: Pick<Program, 'timeline'>,
): Pick<Program, 'advance' | 'timeline'> {
  return {
    advance: (state, answers, runtime, end) => advance(options, state, answers, runtime, end),
    timeline: (state): readonly TimelineEntry[] => {
      const started = decodeHead(state.head).turn > 0;
      return begun
        .timeline(state)
        .map((entry, index) =>
          index === 0 && started ? { ...entry, kind: 'machine', outcome: 'kept' } : entry,
        );
    },
  };
}

/** Advances a machine. Behind each commit, it continues from what was committed: no later turn knows more. */
async function advance(
  options: MachineProgramOptions,
  state: ProgramState,
  answers: ReadonlyMap<string, ClientAnswer>,
  runtime: Runtime,
  end: EndRequest | undefined,
): Promise<Outcome> {
  let current = runtime;
  let from = state;
  let given = answers;
  let request = end;
  const { turn: turnsBefore } = decodeHead(state.head);
  const budget = new TurnBudget({ runtime, turnsBefore, commitFirst: options.commitFirst });
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- one turn after the other
    const ended = await takeTurn(options, from, given, current, budget, request);
    if (!('reason' in ended)) return ended;
    const { reason, ...outcome } = ended;
    if (!budget.mayCommit(reason)) return outcome;
    request = undefined;
    try {
      // oxlint-disable-next-line no-await-in-loop -- one turn after the other
      const next = await current.commit?.({ ...outcome, reason });
      if (next === undefined) return outcome;
      current = runtimeAfter(current, next);
      budget.committed(current);
    } catch (error) {
      if (error instanceof TurnAborted) throw error;
      // The state cannot be kept: the saga is ended by that, and undone.
      request = { error };
    }
    from = outcome.state;
    given = new Map();
  }
}

async function takeTurn(
  options: MachineProgramOptions,
  state: ProgramState,
  answers: ReadonlyMap<string, ClientAnswer>,
  runtime: Runtime,
  budget: TurnBudget,
  end: EndRequest | undefined,
): Promise<Outcome | CommitPoint> {
  const head = decodeHead(state.head);
  const { input, turn } = head;
  const ledger = new Ledger(state, input, runtime);
  const { first } = ledger;
  if (turn > 0 && isUndoing(first)) return await goOnUndoing(options, state, ledger, runtime, end);
  if (end !== undefined) return await undoSaga(options, ledger, runtime, { end }, turn);
  return await new MachineTurn(options, ledger, head, runtime, budget).take(answers);
}
