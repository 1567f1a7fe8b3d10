import type { StepErrorData, Steps } from '@mcp-saga/core';
import {
  command,
  defaultUndoRetry,
  generatorEngine,
  isDone,
  type CommandSpec,
  type Head,
  type StepSpec,
  type StepUndo,
  type UndoWork,
  type EndRequest,
  type Outcome,
  type ProgramState,
  type Runtime,
  type SagaEngine,
} from '@mcp-saga/core/program';
import { effectOf, type EffectSpec } from '../author/step.ts';
import type { DoneEffect, Ledger, LedgerEntry } from './ledger.ts';
import {
  fromWaitRecord,
  toLeftRecord,
  waitsOf,
  withdrawWaits,
  type OpenWait,
} from './open-wait.ts';
import type { SagaRecord, UndoRecord } from '../model/machine-record.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import { stateHead } from './state-head.ts';
import { errorOf, toUndoRecord, type UndoCause } from './undo-cause.ts';

/** Returns `true` if an undo has started. */
export function isUndoing(first: unknown): first is UndoRecord {
  return typeof first === 'object' && first !== null && 'error' in first;
}

/**
 * Undoes the effects of a saga, last first, with a generator that replays them from the journal and
 * then throws.
 */
export async function undoSaga(
  options: MachineProgramOptions,
  ledger: Ledger,
  runtime: Runtime,
  why: UndoCause,
  turn: number,
): Promise<Outcome> {
  ledger.giveUp();
  const record = toUndoRecord(why);
  const { waits } = why;
  // Committed before the withdrawal: a repeated request could continue where this one failed.
  if ('error' in why && waits.length > 0 && isPutOff(runtime)) {
    return later({
      head: stateHead(turn + 1),
      ...ledger.texts({ ...record, waits: waits.map(toLeftRecord) }),
    });
  }
  await withdrawWaits(options, waits, runtime);
  const state = { head: stateHead(turn), ...ledger.texts(record) };
  const engine = standIn(options, ledger, 'error' in why ? { error: why.error } : undefined);
  return await engine.advance(state, new Map(), runtime, 'end' in why ? why.end : undefined);
}

/** Continues an undo in a later turn. */
export async function continueUndo(
  options: MachineProgramOptions,
  state: ProgramState,
  ledger: Ledger,
  runtime: Runtime,
  end?: EndRequest,
): Promise<Outcome> {
  const { waits = [], ...record } = ledger.first as UndoRecord;
  let from = state;
  if (waits.length > 0) {
    if (end === undefined && isPutOff(runtime)) return later(state);
    await withdrawWaits(
      options,
      waits.map((left) => fromWaitRecord(left.w, left.i)),
      runtime,
    );
    from = { head: state.head, ...ledger.texts(record) };
  }
  return await standIn(options, ledger, errorOf(record)).advance(from, new Map(), runtime, end);
}

/** Returns the open waits of the stored machine of a ledger. */
export function openWaits(
  { turn }: Pick<Head, 'turn'>,
  { first }: Pick<Ledger, 'first'>,
): readonly OpenWait[] {
  return turn === 0 ? [] : waitsOf(first as SagaRecord);
}

/** `true` if this turn runs nothing more. */
function isPutOff({ turn, time }: Runtime): boolean {
  const { defersEffects, deadline = Number.POSITIVE_INFINITY } = turn;
  return defersEffects === 'all' || time.now() >= deadline;
}

/**
 * Outcome of a saga that does not fit the code: without an undo, so that the code can be rolled
 * back.
 */
export function failedUnfit(error: unknown): Outcome {
  return { status: 'failed', error, compensated: [], uncompensated: [], ignored: [] };
}

/** Outcome of a turn that leaves the withdrawal of links to the next one. */
function later(state: ProgramState): Outcome {
  return {
    status: 'suspended',
    state,
    steps: [],
    retryAfterMs: 0,
    undoes: true,
    accepted: 0,
    ignored: [],
  };
}

function standIn(
  options: MachineProgramOptions,
  ledger: Ledger,
  cause: { readonly error: unknown } | undefined,
): SagaEngine {
  return generatorEngine({
    name: options.name,
    input: undefined,
    acceptsReuse: true,
    onMismatch: 'compensate',
    body: () => replayEffects(options, ledger.entries, cause),
  });
}

/** Replays the recorded effects as steps, then throws the reason for the undo. */
function* replayEffects(
  options: MachineProgramOptions,
  entries: readonly LedgerEntry[],
  cause: { readonly error: unknown } | undefined,
): Steps<string> {
  for (const entry of entries) {
    // Entries of the undo follow the effects.
    const { type, path } = entry;
    const isEnd = isDone(type) || type === 'failed' || type === 'unknown' || type === 'polled';
    if (!isEnd || /^[~!]/.test(path)) continue;
    try {
      yield* command<unknown>(type === 'polled' ? pollAt(path) : stepOf(options, entry));
    } catch {
      // The machine has received this error.
    }
  }
  if (cause !== undefined) throw cause.error;
  // Waits for the end from outside.
  yield* command<unknown>({ kind: 'checkpoint', id: '!end', content: undefined });
  return '';
}

/** Poll that is replayed only, for the decision of a wait. */
function pollAt(path: string): CommandSpec {
  return {
    kind: 'poll',
    id: path,
    ask: () => undefined,
    everyMs: 1,
    totalTimeoutMs: 1,
    report: undefined,
  };
}

function stepOf(options: MachineProgramOptions, entry: LedgerEntry): StepSpec {
  const { path } = entry;
  const undone = effectToUndo(entry);
  const logic = undone === undefined ? undefined : options.logicNamed(undone.logic);
  const spec = logic === undefined ? undefined : effectOf(logic);
  return {
    kind: 'step',
    id: path,
    run: () => {
      throw new TypeError(`The effect '${path}' has run before.`);
    },
    input: undefined,
    key: undefined,
    // The ledger records no request, and `keep: false` would be part of it.
    keep: true,
    compress: false,
    once: false,
    reads: false,
    retry: undefined,
    timeoutMs: undefined,
    undo: undone === undefined ? undefined : toUndo(spec, undone),
    of: undefined,
  };
}

interface UndoneEffect {
  readonly logic: string;
  readonly facts: {
    readonly outcome: 'done' | 'unknown';
    readonly result: unknown;
    readonly input: unknown;
  };
}

function effectToUndo({ type, value }: LedgerEntry): UndoneEffect | undefined {
  if (type === 'unknown') {
    const { name, data } = value as StepErrorData;
    return { logic: name, facts: { outcome: 'unknown', result: undefined, input: data } };
  }
  if (type !== 'done') return undefined;
  const [logic, input, result] = value as DoneEffect;
  return { logic, facts: { outcome: 'done', result, input } };
}

/** Returns the undo of an effect in the current code. Without one, the effect is uncompensated. */
function toUndo(spec: EffectSpec | undefined, { facts }: UndoneEffect): StepUndo {
  const gone: StepUndo = {
    work: {
      name: '',
      run: () => undefined,
      bind: () => {
        throw new TypeError('The code of this undo no longer exists.');
      },
    },
    undoesUnknown: false,
    label: undefined,
    retry: defaultUndoRetry,
    timeoutMs: undefined,
  };
  if (spec?.undo === undefined) return gone;
  const { work } = spec.undo;
  return {
    ...spec.undo,
    label: spec.labelOf(facts.input),
    work:
      'bind' in work ? { ...work, bind: () => work.bind(facts as never) } : withFacts(work, facts),
  };
}

function withFacts(work: UndoWork, facts: UndoneEffect['facts']): UndoWork {
  if (work.kind === 'named') return work;
  // Copies accessors, which throw on access in a generator.
  const given = (context: object): never =>
    Object.defineProperties(
      {},
      {
        ...Object.getOwnPropertyDescriptors(context),
        ...Object.getOwnPropertyDescriptors(facts),
      },
    ) as never;
  return work.kind === 'generator'
    ? { kind: 'generator', run: (context: never) => work.run(given(context)) }
    : { kind: 'function', run: (context: never) => work.run(given(context)) };
}
