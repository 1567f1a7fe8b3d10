import type { Json, Program } from '@mcp-saga/server';
import type { Outcome, ProgramState, Runtime, SagaHistory } from '@mcp-saga/server/internal';
import { wrapProgram, type ProgramMethods } from '../values/wrap-program.ts';
import {
  redactedEvent,
  endOf,
  failure,
  recordingVersion,
  redactedBy,
  type Redact,
} from './recorded-event.ts';
import { toRecording, type JournalRecording } from './journal-recording.ts';
import { TurnRecorder, type NotedTurn } from './turn-recorder.ts';
import type { RecordedTurn } from './turns-recording.ts';

/** Receives recordings. Errors of the functions it is given are its own to catch. */
export interface RecordingSink {
  readonly journal: (recording: () => JournalRecording, sagaId: string) => unknown;
  /** Receives a turn of a saga without a journal. */
  readonly turn: (turn: () => Promise<RecordedTurn>, sagaId: string) => unknown;
}

/** Wraps a program so that it reports recordings of itself before its client is answered. */
export function recordedProgram(recorded: Program, redact: Redact, sink: RecordingSink): Program {
  return wrapProgram(recorded, (program) =>
    program.history === undefined ? byTurns(program, redact, sink) : byJournal(program, redact, sink),
  );
}

function byJournal(program: Program, redact: Redact, { journal }: RecordingSink): ProgramMethods {
  return {
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      let last: ProgramState | undefined;
      const ended = (at: ProgramState): void => {
        last = at;
        runtime.ended?.(at);
      };
      const outcome = await program.advance(state, answers, { ...runtime, ended }, end);
      const ending = last;
      const { engine, sagaId } = runtime;
      if (ending !== undefined && outcome.status !== 'suspended') {
        const history = (): SagaHistory => program.history?.(ending) ?? { input: {}, entries: [] };
        await journal(() => toRecording(program, engine, history(), outcome, redact), sagaId);
      }
      return outcome;
    },
  };
}

function byTurns(program: Program, redact: Redact, sink: RecordingSink): ProgramMethods {
  const begun = new WeakMap<ProgramState, Json>();
  return {
    begin: async (args, ...start) => {
      const state = await program.begin(args, ...start);
      begun.set(state, args);
      return state;
    },
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      const keep = async (noted: NotedTurn, outcome: Outcome): Promise<void> => {
        const input = begun.get(noted.request.state);
        await sink.turn(() => toTurn(program, redact, noted, outcome, input), runtime.sagaId);
      };
      const recorder = new TurnRecorder({ program, state, answers, runtime, end, onCommit: keep });
      const outcome = await recorder.take();
      await keep(recorder.noted, outcome);
      return outcome;
    },
  };
}

async function toTurn(
  { name: saga, version }: Program,
  redact: Redact,
  { request: { state, runtime, end }, began, events, host: facts }: NotedTurn,
  outcome: Outcome,
  input: Json | undefined,
): Promise<RecordedTurn> {
  const { engine, turn } = runtime;
  const { hasToken, ...host } = facts;
  const ended = end === undefined ? undefined : failure(end.error, redact).error;
  const of = { kind: 'input', id: '', part: 'value' } as const;
  const args = input === undefined ? undefined : redactedBy(redact, input, of);
  return {
    recording: recordingVersion,
    kind: 'turn',
    saga,
    version,
    engine,
    turn,
    ...(args === undefined ? { from: await nameOf(state, runtime) } : { input: args.kept }),
    ...(args?.redacted === true ? { redacted: ['input'] } : {}),
    ...(outcome.status === 'suspended' ? { to: await nameOf(outcome.state, runtime) } : {}),
    time: new Date(began).toISOString(),
    host: { ...host, ...(input !== undefined && hasToken === true ? { hasToken } : {}) },
    ...(ended === undefined ? {} : { ended }),
    happened: events.map((event) => redactedEvent(event, redact)),
    ...(outcome.status === 'suspended' ? {} : { end: endOf(outcome, redact) }),
  };
}

// Whoever reads a recording must not find out by trying what a state holds that was redacted: a digest alone would tell.
async function nameOf(state: ProgramState, runtime: Runtime): Promise<string> {
  const { head, structure, client, server } = state;
  const digest = await runtime.digest(JSON.stringify([head, structure, client, server]));
  return await runtime.idempotencyKey(`!recorded:${digest}`, undefined, 'do');
}
