import {
  ReplayMismatch,
  TurnAborted,
  validate,
  type Outcome,
  type Program,
  type Runtime,
} from '@mcp-saga/server';
import { SagaTestError } from './errors.ts';
import { messageOf } from './question-text.ts';
import { keepsNoHistory } from './record-sagas.ts';
import { assertRecording, endOf, historyIn, type RecordedEnd, type Recording } from './recording.ts';
import { isSameValue } from './same-value.ts';
import { show } from './show.ts';
import { sideBySide, type Row } from './side-by-side.ts';

/** What of a recording has to hold. */
export interface ReplayOptions {
  /** How the file or the recording is called in messages. */
  readonly name?: string;
  /** Whether the saga has to end as it did: with the same result or error. Default `compare`. */
  readonly ends?: 'compare' | 'ignore';
}

/**
 * Runs what was recorded on the code of today, as a host would that is given the token of then: nothing is asked and
 * nothing is done, every answer and every result is the recorded one. So it says before a deploy whether sagas that
 * have begun can go on.
 *
 * @param sagas - what the host serves; of older versions, those that `previous` names
 * @throws SagaTestError `replay_mismatch`, with what is recorded and what happens now side by side
 */
export async function replayRecording(
  recording: unknown,
  sagas: readonly Program[],
  options: ReplayOptions = {},
): Promise<void> {
  assertRecording(recording);
  const { saga, version, end, happened, next } = recording;
  const { name = `the recording of '${saga}'`, ends = 'compare' } = options;
  const program = programOf(recording, sagas, name);
  const replayed = await advanced(program, recording, happened.length);
  const { mismatch } = replayed;
  const at = mismatch?.position ?? happened.length;
  const now = mismatch === undefined ? replayed : await advanced(program, recording, at);
  const same =
    mismatch === undefined && now.end !== undefined && (ends === 'ignore' || isSameValue(now.end, end));
  if (!same) {
    const rows = rowsOf(recording, at, sayingNow(now, mismatch));
    throw new SagaTestError(
      'replay_mismatch',
      `The code of today no longer does what ${name} says.\n\n${sideBySide(rows)}\n\n` +
        (mismatch === undefined
          ? 'Sagas that have begun still go on, and end otherwise. Where that is meant, record it anew.'
          : `Sagas of version '${version}' that have come this far cannot go on with it. Give the changed saga a version ` +
            'of its own and keep this one in `previous`, or put what is new behind `if (yield* patched(…))`.'),
      { cause: mismatch },
    );
  }
  if (next !== undefined) await replayRecording(next, sagas, { ...options, name: `${name}, gone on` });
}

/** How far the code of today comes by itself. */
interface Advanced {
  readonly mismatch?: ReplayMismatch;
  readonly end?: RecordedEnd;
  /** What it would do next, where it has not ended. */
  readonly does: readonly string[];
}

async function advanced(program: Program, recording: Recording, count: number): Promise<Advanced> {
  if (program.restore === undefined) throw keepsNoHistory(program);
  const { input, entries } = historyIn(recording);
  const state = program.restore({ input, entries: entries.slice(0, count) });
  const does: string[] = [];
  const stop = new AbortController();
  let outcome: Outcome;
  try {
    outcome = await program.advance(state, new Map(), replayRuntime(program, recording, does, stop));
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

/** A runtime that lets nothing happen: what would be done is noted, and ends the turn. */
function replayRuntime(
  { output }: Program,
  { engine }: Recording,
  does: string[],
  stop: AbortController,
): Runtime {
  const unlimited = Number.POSITIVE_INFINITY;
  return {
    sagaId: 'replayed',
    turn: 2,
    engine,
    tokenBytes: 0,
    suggestedTokenBytes: unlimited,
    capabilities: undefined,
    context: undefined,
    signal: stop.signal,
    now: () => 0,
    random: () => 0,
    sleep: () => Promise.resolve(),
    deadline: undefined,
    maxHold: 0,
    maxWait: unlimited,
    holdsParts: false,
    checkpointAfterStep: false,
    route: () => 'ask',
    accepts: () => true,
    sample: () => {
      throw new TypeError('Nothing is sampled in a replay.');
    },
    claim: () => true,
    compensator: () => undefined,
    checkResult: async (result) => {
      if (output === undefined) return result;
      const parsed = await validate(output, result);
      if (!parsed.ok) throw new TypeError(`The result is not what the saga declares: ${parsed.issues}`);
      return parsed.value;
    },
    idempotencyKey: (path) => path,
    randomBytes: () => new Uint8Array(32),
    digest: (text) => text.slice(0, 16),
    progress: () => undefined,
    log: () => undefined,
    observe: () => undefined,
    perform: ({ path, undoes, step: { input } }) => {
      does.push(
        `${undoes === undefined ? 'runs' : 'undoes'} ${path}${input === undefined ? '' : ` ${show(input)}`}`,
      );
      // An undo that fails is residue, and tells what it undoes for; a step ends the turn.
      if (undoes === undefined) stop.abort();
      throw new Error('Nothing runs in a replay.');
    },
    warn: undefined,
    limits: { maxJournalEntries: unlimited, maxCommands: unlimited },
  };
}

function programOf({ saga, version }: Recording, sagas: readonly Program[], name: string): Program {
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

/** What happens now, where the recording ends or says something else. */
function sayingNow({ does, end }: Advanced, mismatch: ReplayMismatch | undefined): string {
  if (does.length > 0) return [...does, ...(end === undefined ? [] : [endText(end)])].join('; ');
  if (mismatch !== undefined && mismatch.asked.length > 0)
    return mismatch.asked.map(({ kind, path }) => `${kind} ${path}`).join('; ');
  return end === undefined ? 'goes on' : endText(end);
}

function rowsOf({ happened, end }: Recording, at: number, now: string): readonly Row[] {
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

function endText(end: RecordedEnd): string {
  switch (end.status) {
    case 'completed':
      return `completed: ${show(end.result)}`;
    case 'failed':
      return `failed: ${end.error.name}: ${end.error.message}`;
    case 'continued':
      return `went on as ${end.saga} ${end.version}`;
  }
}
