import { ReplayMismatch, TurnAborted, type Program } from '@mcp-saga/server';
import type { Outcome, Runtime } from '@mcp-saga/server/internal';
import { assertRecording } from '../assert-recording.ts';
import { endText, isSameEnd } from './compare-ends.ts';
import { SagaTestError } from '../../values/errors.ts';
import { joinRecording } from '../join-recording.ts';
import { messageOf } from '../../report/question-text.ts';
import { endOf, type RecordedEnd } from '../recorded-event.ts';
import { historyIn, type JournalRecording, type Recording } from '../journal-recording.ts';
import { madeOfRedactedFrom, redactedNote } from './redactions.ts';
import { replayTurns, type ReplayOptions } from './replay-turns.ts';
import { show } from '../../values/show.ts';
import { replayRuntime } from './replay-runtime.ts';
import { sideBySide, type Row } from '../../report/side-by-side.ts';
import type { RecordedTurn } from '../turns-recording.ts';

/**
 * Replays a recording on the current code. Asks and runs nothing: answers and results are the recorded ones. Shows before a
 * deploy whether sagas in flight can continue.
 *
 * A generator is resumed from its journal, as from a token. A machine takes its turns again from its arguments, at the recorded
 * times.
 *
 * @param recording - a recording, or the turns of one machine that `recordSagas` reported
 * @param sagas - sagas that the host serves, with older versions in `previous`
 * @throws SagaTestError `replay_mismatch`, with the recording and the current code side by side
 */
export async function replayRecording(
  recording: unknown,
  sagas: readonly Program[],
  options: ReplayOptions = {},
): Promise<void> {
  const whole: unknown = Array.isArray(recording) ? joinRecording(recording as RecordedTurn[]) : recording;
  assertRecording(whole);
  const { name = `the recording of '${whole.saga}'`, ends = 'compare' } = options;
  const program = programOf(whole, sagas, name);
  if (whole.kind === 'turns') {
    await replayTurns(whole, program, name, ends);
    return;
  }
  await replayJournal(whole, program, name, ends);
  const { next } = whole;
  if (next !== undefined) await replayRecording(next, sagas, { ...options, name: `${name}, gone on` });
}

/** Finds the program that serves a recorded saga today. Throws `replay_mismatch` if there is none. */
function programOf(
  { saga, version }: Pick<Recording, 'saga' | 'version'>,
  sagas: readonly Program[],
  name: string,
): Program {
  const current = sagas.find((program) => program.name === saga);
  const versions = current === undefined ? [] : [current, ...current.previous.map((older) => older.saga)];
  const program = versions.find((each) => each.version === version);
  if (program !== undefined) return program;
  const served = versions.map((each) => `'${each.version}'`).join(', ');
  throw new SagaTestError(
    'replay_mismatch',
    `${name} is of version '${version}' of '${saga}', which is not served any more: ` +
      (current === undefined ? 'nothing of that name is.' : `served are ${served}.`) +
      ' Its sagas cannot go on. Keep the old code in `previous`, or delete the recording once none of them is left.',
  );
}

async function replayJournal(
  recording: JournalRecording,
  program: Program,
  name: string,
  ends: NonNullable<ReplayOptions['ends']>,
): Promise<void> {
  const { version, end, happened } = recording;
  const { mismatch, ...replayed } = await compared(program, recording);
  const at = mismatch?.position ?? happened.length;
  const now = mismatch === undefined ? replayed : await advanced(program, replayed.recording, at);
  const isMadeOfRedacted = madeOfRedactedFrom(recording) <= happened.length;
  if (mismatch === undefined && isSameEnd({ end, isMadeOfRedacted }, now.end, ends)) return;
  const rows = rowsOf(recording, at, sayingNow(now, mismatch));
  throw new SagaTestError(
    'replay_mismatch',
    `The code of today no longer does what ${name} says.\n\n${sideBySide(rows)}\n\n` +
      redactedNote(recording, at) +
      (mismatch === undefined
        ? 'Sagas that have begun still go on, and end otherwise. Where that is meant, record it anew.'
        : `Sagas of version '${version}' that have come this far cannot go on with it. Give the changed saga a version ` +
          'of its own and keep this one in `previous`, or put what is new behind `if (yield* patched(…))`.'),
    { cause: mismatch },
  );
}

interface Advanced {
  readonly mismatch?: ReplayMismatch;
  readonly end?: RecordedEnd;
  /** Effects that it would run next, if it has not ended. */
  readonly does: readonly string[];
}

/** Replays a recording. An entry that may depend on a redacted value takes the fingerprint of the current code. */
async function compared(
  program: Program,
  recording: JournalRecording,
): Promise<Advanced & { readonly recording: JournalRecording }> {
  const from = madeOfRedactedFrom(recording);
  const happened = [...recording.happened];
  const asToday = { ...recording, happened };
  for (let at = from; ; at += 1) {
    const replayed = await advanced(program, asToday, happened.length);
    const { position = -1, asked = [] } = replayed.mismatch ?? {};
    const entry = happened[position];
    const today = asked.find(({ path }) => path === entry?.id);
    // Where it is asked otherwise each time, or by another word, this would be the same place once more.
    if (position < at || entry === undefined || today === undefined)
      return { ...replayed, recording: asToday };
    happened[position] = { ...entry, fingerprint: today.fingerprint };
    at = position;
  }
}

async function advanced(program: Program, recording: JournalRecording, count: number): Promise<Advanced> {
  if (program.restore === undefined) {
    throw new SagaTestError(
      'replay_mismatch',
      `'${program.name}' was recorded as a generator, and is a machine now: its sagas of then cannot go on. Give the machine ` +
        'a version of its own and keep the generator in `previous`.',
    );
  }
  const { input, entries } = historyIn(recording);
  const state = program.restore({ input, entries: entries.slice(0, count) });
  const does: string[] = [];
  const stop = new AbortController();
  let outcome: Outcome;
  try {
    const { engine } = recording;
    const perform: Runtime['perform'] = ({ path, undoes, step: { input: given } }) => {
      does.push(
        `${undoes === undefined ? 'runs' : 'undoes'} ${path}${given === undefined ? '' : ` ${show(given)}`}`,
      );
      // An undo that fails is residue, and tells what it undoes for; a step ends the turn.
      if (undoes === undefined) stop.abort();
      throw new Error('Nothing runs in a replay.');
    };
    const runtime = replayRuntime(program, { turn: 2, engine, signal: stop.signal, perform });
    outcome = await program.advance(state, new Map(), runtime);
  } catch (error) {
    if (error instanceof TurnAborted) return { does };
    throw error;
  }
  if (outcome.status === 'suspended') {
    for (const step of outcome.steps) does.push(`asks ${step.stepId}: ${messageOf(step)}`);
    if (outcome.steps.length === 0) does.push('waits');
    return { does };
  }
  if (outcome.status === 'failed' && outcome.error instanceof ReplayMismatch)
    return { mismatch: outcome.error, does };
  return { end: endOf(outcome, (value) => value), does };
}

function sayingNow({ does, end }: Advanced, mismatch: ReplayMismatch | undefined): string {
  if (does.length > 0) return [...does, ...(end === undefined ? [] : [endText(end)])].join('; ');
  if (mismatch !== undefined && mismatch.asked.length > 0)
    return mismatch.asked.map(({ kind, path }) => `${kind} ${path}`).join('; ');
  return end === undefined ? 'goes on' : endText(end);
}

function rowsOf({ happened, end }: JournalRecording, at: number, now: string): readonly Row[] {
  const rows = happened.map(({ id, outcome, value, asked }, index): Row => {
    const recorded = `${id} ${outcome}${value === undefined ? '' : `: ${show(value)}`}`;
    const differs = index === at;
    return {
      recorded: differs && asked !== undefined ? `asks ${id}: ${asked}` : recorded,
      now: differs ? now : index < at ? recorded : '',
      differs,
    };
  });
  const differs = at === happened.length;
  return [...rows, { recorded: endText(end), now: differs ? now : '', differs }];
}
