import type { StepEvent } from '@mcp-saga/server/internal';
import { kindOfStep } from '../report/question-text.ts';
import type { World } from './world.ts';

/** Adds an event of a step to the trace. Events carry no values, which the kit sees elsewhere. */
export function observe(world: World, event: StepEvent): void {
  const { type, path, attempt = 1, error } = event;
  const id = world.idOf(path);
  const undoes = id.startsWith('~') ? id.slice(1) : undefined;
  switch (type) {
    case 'started':
      if (attempt > 1) world.tell({ type: 'retried', id, attempt });
      return;
    case 'succeeded':
      succeeded(world, event, id, undoes);
      return;
    case 'failed':
    case 'retrying':
      if (undoes === undefined) world.tell({ type: 'failed', id, attempt, error });
      else world.tell({ type: 'undoFailed', id: undoes, error });
      return;
    case 'passed':
      world.tell({ type: 'passed', id, kind: event.kind === 'pivot' ? 'pivot' : 'compensate' });
      return;
    case 'answered':
      answered(world, id);
      return;
    case 'asked':
  }
}

function succeeded(
  world: World,
  { kind, attempt = 1 }: StepEvent,
  id: string,
  undoes: string | undefined,
): void {
  if (kind !== 'step') {
    world.tell({
      type: 'answered',
      id,
      kind: kind === 'sample' ? 'sample' : 'elicit',
      answer: undefined,
    });
    return;
  }
  const { input, key, result } = world.calls.get(id) ?? {
    input: undefined,
    key: undefined,
    result: undefined,
  };
  // A step of an undo that has several is a step like another; that the undo is done, the end of the saga says.
  if (undoes !== undefined && !undoes.includes('/')) world.tell({ type: 'undone', id: undoes, key });
  else world.tell({ type: 'ran', id, attempt, input, result, key });
}

function answered(world: World, id: string): void {
  const asked = world.asked.get(id);
  const answer = world.sent.get(id);
  if (asked === undefined || answer === undefined) return;
  const kind = kindOfStep(asked);
  if ('error' in answer) {
    world.tell({ type: 'answered', id, kind, answer: answer.error });
    return;
  }
  const { action, content } = Object(answer.result) as {
    readonly action?: string;
    readonly content?: unknown;
  };
  if (kind === 'sample') {
    const { text } = Object(content) as { readonly text?: string };
    world.tell({ type: 'answered', id, kind, answer: text ?? content });
  } else if (action === 'decline') {
    world.tell({ type: 'declined', id });
  } else if (action === 'cancel') {
    world.tell({ type: 'cancelled', id });
  } else {
    world.tell({ type: 'answered', id, kind, answer: content });
  }
}
