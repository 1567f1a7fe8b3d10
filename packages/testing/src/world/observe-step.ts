import type { StepEvent } from '@mcp-saga/server';
import { kindOfStep } from '../report/question-text.ts';
import type { Stage } from './simulation.ts';

/** Notes what a turn says happened to a step. The engine tells no values: those are noted where they pass the kit. */
export function observe(stage: Stage, event: StepEvent): void {
  const { type, path, attempt = 1, error } = event;
  const id = stage.idOf(path);
  const undoes = id.startsWith('~') ? id.slice(1) : undefined;
  switch (type) {
    case 'started':
      if (attempt > 1) stage.tell({ type: 'retried', id, attempt });
      return;
    case 'succeeded':
      succeeded(stage, event, id, undoes);
      return;
    case 'failed':
    case 'retrying':
      if (undoes === undefined) stage.tell({ type: 'failed', id, attempt, error });
      else stage.tell({ type: 'undoFailed', id: undoes, error });
      return;
    case 'passed':
      stage.tell({ type: 'passed', id, kind: event.kind === 'pivot' ? 'pivot' : 'compensate' });
      return;
    case 'answered':
      answered(stage, id);
      return;
    case 'asked':
  }
}

function succeeded(
  stage: Stage,
  { kind, attempt = 1 }: StepEvent,
  id: string,
  undoes: string | undefined,
): void {
  if (kind !== 'step') {
    stage.tell({ type: 'answered', id, kind: kind === 'sample' ? 'sample' : 'elicit', answer: undefined });
    return;
  }
  const { input, key, result } = stage.calls.get(id) ?? {
    input: undefined,
    key: undefined,
    result: undefined,
  };
  // A step of an undo that has several is a step like another; that the undo is done, the end of the saga says.
  if (undoes !== undefined && !undoes.includes('/')) stage.tell({ type: 'undone', id: undoes, key });
  else stage.tell({ type: 'ran', id, attempt, input, result, key });
}

function answered(stage: Stage, id: string): void {
  const asked = stage.asked.get(id);
  const answer = stage.sent.get(id);
  if (asked === undefined || answer === undefined) return;
  const kind = kindOfStep(asked);
  if ('error' in answer) {
    stage.tell({ type: 'answered', id, kind, answer: answer.error });
    return;
  }
  const { action, content } = Object(answer.result) as {
    readonly action?: string;
    readonly content?: unknown;
  };
  if (kind === 'sample') {
    const { text } = Object(content) as { readonly text?: string };
    stage.tell({ type: 'answered', id, kind, answer: text ?? content });
  } else if (action === 'decline') {
    stage.tell({ type: 'declined', id });
  } else if (action === 'cancel') {
    stage.tell({ type: 'cancelled', id });
  } else {
    stage.tell({ type: 'answered', id, kind, answer: content });
  }
}
