import { SagaTestError } from '../values/errors.ts';
import type { RecordedEvent, Recording } from '../record/recording.ts';
import type { World } from '../world/world.ts';
import type { Trace, TraceEntry } from '../report/trace.ts';

/** Recording of a run, with its turns, waits, and questions. */
export function recordingOf(world: World): Recording {
  const generations = [...world.recordings].toSorted(([one], [other]) => one - other);
  const recording = generations.reduceRight<Recording | undefined>((next, [generation, each]) => {
    const made = each();
    // The turns of a machine contain all of this, and a machine does not continue as another saga.
    if (made.kind === 'turns') return made;
    return {
      ...made,
      happened: told(made.happened, generation, world.trace),
      ...(next === undefined ? {} : { next }),
    };
  }, undefined);
  if (recording !== undefined) return recording;
  throw new SagaTestError(
    'script',
    'run.recording: nothing to record. The saga did not end: the host refused a request.',
  );
}

function told(
  happened: readonly RecordedEvent[],
  generation: number,
  trace: Trace,
): readonly RecordedEvent[] {
  let turn: number | undefined;
  let from = 0;
  return happened.map((entry) => {
    const id = generation === 0 ? entry.id : `${entry.id}@${generation}`;
    const at = trace.findLastIndex((event) => event.type !== 'asked' && isAbout(event, id));
    const asked = trace.find((event) => event.type === 'asked' && event.id === id);
    const { kind, message } = asked?.type === 'asked' ? asked : { kind: entry.kind, message: '' };
    const waited = at < from ? 0 : waitedIn(trace, from, at);
    if (at !== -1) {
      turn = trace[at]?.turn ?? turn;
      from = Math.max(from, at);
    }
    const { kind: _, id: __, outcome, ...rest } = entry;
    return {
      ...(turn === undefined ? {} : { turn }),
      kind,
      id: entry.id,
      outcome,
      ...(waited === 0 ? {} : { waited }),
      ...(message === '' ? {} : { asked: message }),
      ...rest,
    };
  });
}

function waitedIn(trace: Trace, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) {
    const event = trace[index];
    if (event?.type === 'waited') sum += event.ms;
  }
  return sum;
}

function isAbout(event: TraceEntry, id: string): boolean {
  if (!('id' in event)) return false;
  return event.type === 'undone' || event.type === 'undoFailed'
    ? `~${event.id}` === id
    : event.id === id;
}
