import { engineOf } from '@mcp-saga/server/internal';
import { InvalidInput, ReplayMismatch, TurnAborted, type Program } from '@mcp-saga/server';
import type { ClientAnswer, Outcome, ProgramState } from '@mcp-saga/server/internal';
import { sideBySide, type Row } from '../../report/side-by-side.ts';
import { SagaTestError } from '../../values/errors.ts';
import { assertRecording } from '../assert-recording.ts';
import { joinRecording } from '../join-recording.ts';
import { endOf } from '../recorded-event.ts';
import type { RecordedEvent, RecordedTurn, Recording, TurnBeginning } from '../recording.ts';
import { thrownFrom } from '../recorded-errors.ts';
import { isAnswer, toAnswer } from '../recorded-answers.ts';
import { TurnRecorder } from '../turn-recorder.ts';
import { endText } from './compare-ends.ts';
import { eventText, turnRows, type TurnNow } from './compare-turn.ts';
import { madeOfRedactedFrom, redactedNote } from './redactions.ts';
import { TurnScript } from './replay-turn.ts';

/** Options of a replay. */
export interface ReplayOptions {
  /** Name of the recording in messages. */
  readonly name?: string;
  /** `compare`: the saga must end with the same result or error. @default 'compare' */
  readonly ends?: 'compare' | 'ignore';
}

/**
 * Replays a recording on the current code. Asks and runs nothing: answers and results are the
 * recorded ones. Shows before a deploy if sagas in flight can continue.
 *
 * A generator is resumed from its journal, as from a token. A machine repeats its turns from its
 * arguments, at the recorded times.
 * @param recording - a recording, or the turns of a saga from `recordSagas`
 * @param sagas - sagas that the host serves, with older versions in `previous`
 * @throws SagaTestError `replay_mismatch`, with the recording and the current code side by side
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   return yield* step('charge', () => bank.charge(900));
 * });
 * const { recording } = await testSaga(order).run();
 * await replayRecording(recording, [order]);
 * ```
 */
export async function replayRecording(
  recording: unknown,
  sagas: readonly Program[],
  options: ReplayOptions = {},
): Promise<void> {
  const whole: unknown = Array.isArray(recording)
    ? joinRecording(recording as RecordedTurn[])
    : recording;
  assertRecording(whole);
  const { name = `the recording of '${whole.saga}'`, ends = 'compare' } = options;
  const replay: Replay = { recording: whole, program: programOf(whole, sagas, name), name, ends };
  await (whole.turns === undefined ? replayJournal(replay) : replayTurns(replay, whole.turns));
  if (whole.next !== undefined)
    await replayRecording(whole.next, sagas, { ...options, name: `${name} (continued)` });
}

type Replay = Required<ReplayOptions> & Readonly<{ recording: Recording; program: Program }>;

/** Finds the current program of a recorded saga. Throws `replay_mismatch` if missing. */
function programOf({ saga, version }: Recording, sagas: readonly Program[], name: string): Program {
  const current = sagas.find((program) => program.name === saga);
  const versions =
    current === undefined ? [] : [current, ...current.previous.map((older) => older.saga)];
  const program = versions.find((each) => each.version === version);
  if (program !== undefined) return program;
  const served = versions.map((each) => `'${each.version}'`).join(', ') || 'none';
  throw new SagaTestError(
    'replay_mismatch',
    `Version '${version}' of '${saga}', the version of ${name}, is no longer served (served: ${served}): sagas in flight cannot ` +
      'continue. Keep the old code in `previous`, or delete the recording once no such saga is in flight.',
  );
}

async function replayJournal(replay: Replay): Promise<void> {
  const { recording, program, ends } = replay;
  const { version, happened } = recording;
  const { mismatch, asToday, ...replayed } = await compared(program, recording);
  const at = mismatch?.position ?? happened.length;
  const { does, ...now } =
    mismatch === undefined
      ? replayed
      : await replayedJournal(program, { ...asToday, happened: asToday.happened.slice(0, at) });
  const asked = mismatch?.asked.map(({ kind, path }) => `${kind} ${path}`).join('; ');
  const isSilent = now.events.length === 0 && now.end === undefined;
  const rows = turnRows(
    recording,
    undefined,
    {
      ...now,
      events: [...happened.slice(0, at), ...now.events],
      does: does ?? (isSilent ? asked : undefined),
    },
    ends,
  );
  if (mismatch === undefined && !rows.some(({ differs }) => differs)) return;
  throw different(
    replay,
    rows,
    at,
    mismatch === undefined
      ? 'Sagas in flight still continue, and end differently. If that is intended, record again.'
      : `Sagas of version '${version}' in flight cannot continue from here. Give the changed saga a new version and keep this one ` +
          'in `previous`, or put the change behind `if (yield* patched(…))`.',
    mismatch,
  );
}

/**
 * Replays a journal. An entry that may depend on a redacted value takes the fingerprint of the
 * current code.
 */
async function compared(
  program: Program,
  recording: Recording,
): Promise<TurnReplayed & { readonly asToday: Recording }> {
  const happened = [...recording.happened];
  const asToday = { ...recording, happened };
  for (let at = madeOfRedactedFrom(recording); ; at += 1) {
    const replayed = await replayedJournal(program, asToday);
    const { position = -1, asked = [] } = replayed.mismatch ?? {};
    const entry = happened[position];
    const today = asked.find(({ path }) => path === entry?.id);
    // A body that asks differently each time would stay at the same entry.
    if (position < at || entry === undefined || today === undefined)
      return { ...replayed, asToday };
    happened[position] = { ...entry, fingerprint: today.fingerprint };
    at = position;
  }
}

async function replayedJournal(
  program: Program,
  { input, happened }: Recording,
): Promise<TurnReplayed> {
  const engine = engineOf(program);
  if (engine.restore === undefined) {
    throw new SagaTestError(
      'replay_mismatch',
      `'${program.name}' was recorded as a generator and is a machine now: its sagas in flight cannot continue. Give the machine ` +
        'a new version, and keep the generator in `previous`.',
    );
  }
  const entries = happened.map(({ id: path, letter = '', fingerprint = 0, ...entry }) => {
    return { ...entry, path, letter, fingerprint };
  });
  const state = engine.restore({ input, entries });
  const began = { time: new Date(0).toISOString(), host: { maxHold: 0 } };
  return await replayedTurn({ program, state, began, events: [], turn: 2 });
}

/** Replays a machine from its arguments, up to the first turn that differs. */
async function replayTurns(replay: Replay, turns: readonly TurnBeginning[]): Promise<void> {
  const { recording, program, name, ends } = replay;
  const { version, happened, end } = recording;
  const told: Row[] = [];
  let state = await begun(replay);
  for (const [index, began] of turns.entries()) {
    const turn = index + 1;
    const events = happened.filter((event) => event.turn === turn);
    const now = await replayedTurn({ program, state, began, events, turn });
    told.push(...turnRows(recording, turn, now, ends));
    const at = told.findIndex(({ differs }) => differs);
    if (at !== -1) {
      const later = happened.filter((event) => (event.turn ?? 0) > turn).map(eventText);
      const rest = [...later, ...(turn < turns.length ? [endText(end)] : [])];
      throw different(
        { ...replay, name: `${name}, from turn ${turn} on` },
        [...told, ...rest.map((recorded): Row => ({ recorded, now: '', differs: false }))],
        at,
        'Sagas in flight continue from their state if the changed code still has that state: an open question is asked again in its ' +
          'new form, and the current code decides the rest. If that is intended, record again. Otherwise, or to let sagas of ' +
          `version '${version}' end as they began, give the changed saga a new version and keep this one in \`previous\`.`,
      );
    }
    if (now.state !== undefined) ({ state } = now);
  }
}

async function begun({ recording, program, name }: Replay): Promise<ProgramState> {
  try {
    return await engineOf(program).begin(recording.input);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new SagaTestError(
      'replay_mismatch',
      `The current code rejects the arguments of ${name}: ${error.message}`,
      { cause: error },
    );
  }
}

interface TurnReplayed extends TurnNow {
  readonly state?: ProgramState;
  readonly mismatch?: ReplayMismatch;
}

interface Turn {
  readonly program: Program;
  readonly state: ProgramState;
  readonly began: TurnBeginning;
  readonly events: readonly RecordedEvent[];
  readonly turn: number;
}

/** Replays one turn with its recorded events. */
async function replayedTurn({ program, state, began, events, turn }: Turn): Promise<TurnReplayed> {
  const script = new TurnScript(began, events);
  const { ended } = began;
  const answers = events
    .filter(isAnswer)
    .map((event): [string, ClientAnswer] => [event.id, toAnswer(event)]);
  const recorder = new TurnRecorder({
    engine: engineOf(program),
    state,
    answers: new Map(answers),
    runtime: script.runtime(program, turn),
    end: ended === undefined ? undefined : { error: thrownFrom(ended) },
  });
  script.onHalt = () => recorder.close();
  const outcome = await script.play(() => recorder.take()).catch(aborted);
  const { unheard, does } = script;
  const heard = recorder.events.filter(
    (event) => does === undefined || event.outcome !== 'not ended',
  );
  const now = { events: heard, unheard, does };
  if (outcome === undefined) return now;
  if (outcome.status === 'suspended') return { ...now, state: outcome.state };
  if (outcome.status === 'failed' && outcome.error instanceof ReplayMismatch)
    return { ...now, mismatch: outcome.error };
  return { ...now, end: endOf(outcome, (value) => value) };
}

function aborted(error: unknown): Outcome | undefined {
  if (error instanceof TurnAborted) return undefined;
  throw error;
}

function different(
  { recording, name }: Replay,
  rows: readonly Row[],
  at: number,
  advice: string,
  cause?: unknown,
): SagaTestError {
  return new SagaTestError(
    'replay_mismatch',
    `The current code differs from ${name}.\n\n${sideBySide(rows)}\n\n${redactedNote(recording, at)}${advice}`,
    { cause },
  );
}
