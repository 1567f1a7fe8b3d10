import { SagaTestError } from '../values/errors.ts';
import type { RecordedEntry, Recording } from '../record/journal-recording.ts';
import type { World } from '../world/world.ts';
import type { Trace, TraceEntry } from '../report/trace.ts';

/** Recording of a run, with its turns, waits, and questions. */
export function recordingOf(world: World): Recording {
  const generations = [...world.recordings].toSorted(([one], [other]) => one - other);
  const recording = generations.reduceRight<Recording | undefined>((next, [generation, each]) => {
    const made = each();
    // What is recorded turn by turn tells all of it, and does not go on as anything else.
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
    'There is nothing to record: the saga did not come to an end that a replay of its journal would come to as well.',
  );
}

function told(
  happened: readonly RecordedEntry[],
  generation: number,
  trace: Trace,
): readonly RecordedEntry[] {
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
  return event.type === 'undone' || event.type === 'undoFailed' ? `~${event.id}` === id : event.id === id;
}
