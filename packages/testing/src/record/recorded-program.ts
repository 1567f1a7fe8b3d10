import type { Json, Program } from '@mcp-saga/server';
import { keyText } from '@mcp-saga/server/internal';
import type { HistoryEntry, Outcome, ProgramState, Runtime } from '@mcp-saga/server/internal';
import { wrapProgram } from '../values/wrap-program.ts';
import { redactedEvent, endOf, failure, redactedBy } from './recorded-event.ts';
import {
  recordingVersion,
  type RecordedEvent,
  type RecordedTurn,
  type Redact,
} from './recording.ts';
import { TurnRecorder, type NotedTurn } from './turn-recorder.ts';

/** Receives a turn before its client is answered. Must not throw. */
export type OnTurn = (turn: () => Promise<RecordedTurn>, sagaId: string) => unknown;

/** Wraps a program to report turns: the last turn of a generator, each turn of a machine. */
export function recordedProgram(recorded: Program, redact: Redact, onTurn: OnTurn): Program {
  return wrapProgram(recorded, (engine, program) => {
    const begun = new WeakMap<ProgramState, Json>();
    return {
      begin: async (args, ...start) => {
        const state = await engine.begin(args, ...start);
        begun.set(state, args);
        return state;
      },
      advance: async (state, answers, runtime, end): Promise<Outcome> => {
        const report = async (noted: NotedTurn, outcome: Outcome): Promise<void> => {
          const isOver = noted.journal !== undefined && outcome.status !== 'suspended';
          if (engine.history !== undefined && !isOver) return;
          const input = noted.journal?.input ?? begun.get(noted.request.state);
          await onTurn(() => toTurn(program, redact, noted, outcome, input), runtime.saga.id);
        };
        const recorder = new TurnRecorder({
          engine,
          state,
          answers,
          runtime,
          end,
          onCommit: report,
        });
        const outcome = await recorder.take();
        await report(recorder.noted, outcome);
        return outcome;
      },
    };
  });
}

async function toTurn(
  { name: saga, version }: Program,
  redact: Redact,
  { request: { state, runtime, end }, began, events, host: facts, journal }: NotedTurn,
  outcome: Outcome,
  input: Json | undefined,
): Promise<RecordedTurn> {
  const turn = runtime.turn.number;
  const { hasToken, ...host } = facts;
  const ended = end === undefined ? undefined : failure(end.error, redact).error;
  const of = { kind: 'input', id: '', part: 'value' } as const;
  const args = input === undefined ? undefined : redactedBy(redact, input, of);
  return {
    recording: recordingVersion,
    kind: 'turn',
    saga,
    version,
    turn,
    ...(journal === undefined ? {} : { journal: true }),
    ...(args === undefined ? { from: await nameOf(state, runtime) } : { input: args.kept }),
    ...(args?.redacted === true ? { redacted: ['input'] } : {}),
    ...(outcome.status === 'suspended' ? { to: await nameOf(outcome.state, runtime) } : {}),
    time: new Date(began).toISOString(),
    host: { ...host, ...(input !== undefined && hasToken === true ? { hasToken } : {}) },
    ...(ended === undefined ? {} : { ended }),
    happened: (journal?.entries.map(eventOf) ?? events).map((event) =>
      redactedEvent(event, redact),
    ),
    ...(outcome.status === 'suspended' ? {} : { end: endOf(outcome, redact) }),
  };
}

function eventOf({
  kind,
  path: id,
  outcome,
  value,
  by,
  letter,
  fingerprint,
}: HistoryEntry): RecordedEvent {
  return {
    kind,
    id,
    outcome,
    ...(value === undefined ? {} : { value }),
    ...(by === undefined ? {} : { by }),
    letter,
    fingerprint,
  };
}

// Keyed, since a plain digest of a state would reveal redacted values to a reader who tries
// candidates.
async function nameOf(state: ProgramState, runtime: Runtime): Promise<string> {
  const { head, structure, client, server } = state;
  const digest = await runtime.questions.digest(JSON.stringify([head, structure, client, server]));
  return keyText(await runtime.effects.idempotencyKey(`!recorded:${digest}`, undefined, 'do'));
}
