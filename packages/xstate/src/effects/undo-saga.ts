import type { Program, StepErrorData, Steps } from '@mcp-saga/core';
import {
  command,
  defaultUndoRetry,
  encodeHead,
  generatorProgram,
  isDone,
  type StepSpec,
  type StepUndo,
  type UndoWork,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/core/program';
import { effectOf, type EffectSpec } from '../author/step.ts';
import type { DoneEffect, Ledger, LedgerEntry } from './ledger.ts';
import type { UndoRecord } from '../model/machine-record.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import { errorOf, toUndoRecord, type UndoCause } from './undo-cause.ts';

/** Whether a saga is being undone already. */
export function isUndoing(first: unknown): first is UndoRecord {
  return typeof first === 'object' && first !== null && 'u' in first;
}

/** Undoes the effects of a saga, last first, by a generator that repeats them from the journal and then throws. */
export async function undoSaga(
  options: MachineProgramOptions,
  ledger: Ledger,
  runtime: Runtime,
  why: UndoCause,
  turn: number,
): Promise<Outcome> {
  const head = encodeHead({
    turn,
    input: 'server',
    progress: undefined,
    asked: {},
    waits: {},
    mismatch: undefined,
  });
  ledger.giveUp();
  const state = { head, ...ledger.texts(toUndoRecord(why)) };
  const program = standIn(options, ledger, 'error' in why ? { error: why.error } : undefined);
  return await program.advance(state, new Map(), runtime, 'end' in why ? why.end : undefined);
}

/** Goes on undoing, in a later turn. */
export async function goOnUndoing(
  options: MachineProgramOptions,
  state: ProgramState,
  ledger: Ledger,
  runtime: Runtime,
  end?: EndRequest,
): Promise<Outcome> {
  return await standIn(options, ledger, errorOf(ledger.first as UndoRecord)).advance(
    state,
    new Map(),
    runtime,
    end,
  );
}

function standIn(
  options: MachineProgramOptions,
  ledger: Ledger,
  cause: { readonly error: unknown } | undefined,
): Pick<Program, 'advance'> {
  return generatorProgram({
    name: options.name,
    input: undefined,
    commitFirst: false,
    declaresForks: true,
    onMismatch: 'compensate',
    body: () => effectsAgain(options, ledger.entries, cause),
  });
}

/** The effects that were run, as steps that replay what became of them; then the reason for undoing them. */
function* effectsAgain(
  options: MachineProgramOptions,
  entries: readonly LedgerEntry[],
  cause: { readonly error: unknown } | undefined,
): Steps<string> {
  for (const entry of entries) {
    // What belongs to undoing comes after them.
    const { type, path } = entry;
    const isEnd = isDone(type) || type === 'failed' || type === 'unknown';
    if (!isEnd || /^[~!]/.test(path)) continue;
    try {
      yield* command<unknown>(stepOf(options, entry));
    } catch {
      // The machine has had this error.
    }
  }
  if (cause !== undefined) throw cause.error;
  // Ended from outside: it waits for that.
  yield* command<unknown>({ kind: 'checkpoint', id: '!end', content: undefined });
  return '';
}

function stepOf(options: MachineProgramOptions, { type, path, value }: LedgerEntry): StepSpec {
  const undone =
    type === 'done' ? doneEffect(value as DoneEffect) : type === 'unknown' ? lostEffect(value) : undefined;
  const logic = undone === undefined ? undefined : options.logicNamed(undone.logic);
  const spec = logic === undefined ? undefined : effectOf(logic);
  return {
    kind: 'step',
    id: path,
    run: () => {
      throw new TypeError(`The effect '${path}' was run before.`);
    },
    input: undefined,
    key: undefined,
    keep: type !== 'empty',
    compress: false,
    once: false,
    retry: undefined,
    timeoutMs: undefined,
    undo: undone === undefined ? undefined : toUndo(spec, undone),
    of: undefined,
  };
}

interface UndoneEffect {
  readonly logic: string;
  readonly facts: { readonly input: unknown; readonly result?: unknown };
}

function doneEffect([logic, input, result]: DoneEffect): UndoneEffect {
  return { logic, facts: { input, result } };
}

function lostEffect(value: unknown): UndoneEffect {
  const { name, data } = value as StepErrorData;
  return { logic: name, facts: { input: data } };
}

/** How an effect is undone by the code of now. What it no longer knows is residue. */
function toUndo(spec: EffectSpec | undefined, { facts }: UndoneEffect): StepUndo {
  const gone: StepUndo = {
    known: {
      name: '',
      run: () => undefined,
      bind: () => {
        throw new TypeError('The code that undoes it is gone.');
      },
    },
    unknown: undefined,
    label: undefined,
    retry: defaultUndoRetry,
    timeoutMs: undefined,
  };
  if (spec?.undo === undefined) return gone;
  const { known, unknown } = spec.undo;
  return {
    ...spec.undo,
    label: spec.labelOf(facts.input),
    known:
      known === undefined
        ? gone.known
        : 'bind' in known
          ? { ...known, bind: () => known.bind(facts as never) }
          : withFacts(known, facts),
    unknown: unknown === undefined ? undefined : withFacts(unknown, facts),
  };
}

function withFacts(work: UndoWork, facts: UndoneEffect['facts']): UndoWork {
  if (work.kind === 'named') return work;
  // What a generator may not read throws where it is read: its properties are copied as they are.
  const given = (context: object): never =>
    Object.defineProperties(
      {},
      {
        ...Object.getOwnPropertyDescriptors(context),
        ...Object.getOwnPropertyDescriptors({ result: undefined, ...facts }),
      },
    ) as never;
  return work.kind === 'generator'
    ? { kind: 'generator', run: (context: never) => work.run(given(context)) }
    : { kind: 'function', run: (context: never) => work.run(given(context)) };
}
