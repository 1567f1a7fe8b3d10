import { InvalidInput, type Program } from '@mcp-saga/server';
import type { ProgramState } from '@mcp-saga/server/internal';
import { endText } from './compare-ends.ts';
import { SagaTestError } from '../../values/errors.ts';
import { endOf } from '../recorded-event.ts';
import { redactedNote } from './redactions.ts';
import { sideBySide, type Row } from '../../report/side-by-side.ts';
import { thrownFrom } from '../thrown-values.ts';
import { isAnswer, toAnswer } from '../turn-answers.ts';
import { TurnRecorder } from '../turn-recorder.ts';
import { eventText, turnRows, type TurnNow } from './turn-rows.ts';
import { TurnScript } from './recorded-turns.ts';
import type { TurnBeginning, TurnsRecording } from '../turns-recording.ts';

/** Options of a replay. */
export interface ReplayOptions {
  /** Name of the recording in messages. */
  readonly name?: string;
  /** `compare`: the saga must end with the same result or error. Default `compare`. */
  readonly ends?: 'compare' | 'ignore';
}

/** Replays a machine from its arguments, and throws `replay_mismatch` at the first turn that differs. */
export async function replayTurns(
  recording: TurnsRecording,
  program: Program,
  name: string,
  ends: NonNullable<ReplayOptions['ends']>,
): Promise<void> {
  const { turns } = recording;
  const told: Row[] = [];
  let state = await begun(recording, program, name);
  for (let turn = 1; turn <= turns.length; turn += 1) {
    const now = await replayedTurn(recording, program, state, turn);
    const rows = turnRows(recording, turn, now, ends);
    if (rows.some(({ differs }) => differs)) throw mismatch(recording, turn, [...told, ...rows], name);
    told.push(...rows);
    if (now.state !== undefined) ({ state } = now);
  }
}

async function begun(recording: TurnsRecording, program: Program, name: string): Promise<ProgramState> {
  try {
    return await program.begin(recording.input);
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw new SagaTestError(
      'replay_mismatch',
      `The code of today no longer takes the arguments that ${name} begins with: ${error.message}`,
      { cause: error },
    );
  }
}

async function replayedTurn(
  { turns, happened, engine }: TurnsRecording,
  program: Program,
  state: ProgramState,
  turn: number,
): Promise<TurnNow & { readonly state?: ProgramState }> {
  const began = turns[turn - 1] as TurnBeginning;
  const events = happened.filter((event) => event.turn === turn);
  const script = new TurnScript(began, events);
  const { ended } = began;
  const recorder = new TurnRecorder({
    program,
    state,
    answers: new Map(events.filter(isAnswer).map((event) => [event.id, toAnswer(event)])),
    runtime: script.runtime(program, { engine, turn }),
    end: ended === undefined ? undefined : { error: thrownFrom(ended) },
  });
  script.onHalt = () => recorder.close();
  const outcome = await script.play(() => recorder.take());
  const { unheard, does } = script;
  const now = { events: recorder.events, unheard };
  if (outcome === undefined) {
    const heard = now.events.filter((event) => event.outcome !== 'not ended');
    return { ...now, events: heard, ...(does === undefined ? {} : { does }) };
  }
  if (outcome.status === 'suspended') return { ...now, state: outcome.state };
  return { ...now, end: endOf(outcome, (value) => value) };
}

function mismatch(
  recording: TurnsRecording,
  turn: number,
  rows: readonly Row[],
  name: string,
): SagaTestError {
  const { version, turns, happened, end } = recording;
  const later = happened.filter((event) => event.turn > turn).map(eventText);
  const rest = [...later, ...(turn < turns.length ? [endText(end)] : [])];
  const all = [...rows, ...rest.map((recorded): Row => ({ recorded, now: '', differs: false }))];
  return new SagaTestError(
    'replay_mismatch',
    `The code of today no longer does what ${name} says, from turn ${turn} on.\n\n${sideBySide(all)}\n\n` +
      // As far as they do not part, each line is of something that happened.
      redactedNote(
        recording,
        rows.findIndex(({ differs }) => differs),
      ) +
      'Sagas that have begun go on from where they are, where that still fits: a question that is open is asked again as ' +
      'it is now, and what they come to from there on is what the code of today does. Where that is meant, record it anew. ' +
      `Where it is not, or those of version '${version}' shall end as they began, give the changed saga a version of its ` +
      'own and keep this one in `previous`.',
  );
}
