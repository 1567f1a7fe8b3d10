import type { TimelineEntry } from '@mcp-saga/core';
import {
  commitState,
  decodeHead,
  TurnBudget,
  type CommitPoint,
  type ClientAnswer,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
  type SagaEngine,
} from '@mcp-saga/core/program';
import { Ledger } from '../effects/ledger.ts';
import { MachineTurn } from './machine-turn.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import { continueUndo, isUndoing, openWaits, undoSaga } from '../effects/undo-machine.ts';

/**
 * Creates the engine of a machine. Until the machine starts, the arguments are the state, as in
 * `begun`. The journal contains outcomes of effects, and no answers for a replay, so it has no
 * history.
 */
export function machineEngine(options: MachineProgramOptions, begun: SagaEngine): SagaEngine {
  return {
    begin: (...start) => begun.begin(...start),
    asked: (state) => begun.asked(state),
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

/** Advances a machine. Continues from the stored state after each commit, as a later turn would. */
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
  const budget = new TurnBudget(runtime);
  for (;;) {
    const ended = await takeTurn(options, from, given, current, budget, request);
    if (!('reason' in ended)) return ended;
    const { reason, ...outcome } = ended;
    if (!budget.mayCommit(reason)) return outcome;
    const committed = await commitState(current, ended);
    if (committed === undefined) return outcome;
    // A state that cannot be stored ends the saga, with an undo.
    request = 'error' in committed ? committed : undefined;
    if ('runtime' in committed) {
      current = committed.runtime;
      budget.committed(current);
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
  if (turn > 0 && isUndoing(first)) return await continueUndo(options, state, ledger, runtime, end);
  if (end !== undefined) {
    return await undoSaga(options, ledger, runtime, { end, waits: openWaits(head, ledger) }, turn);
  }
  return await new MachineTurn(options, { state, ledger, head }, runtime, budget).take(answers);
}
