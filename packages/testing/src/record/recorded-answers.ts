import { isJsonObject, type ClientAnswer } from '@mcp-saga/server/internal';
import type { Json } from '@mcp-saga/server';
import type { RecordedEvent } from './recording.ts';

/** Converts an answer to an event. `toAnswer` restores it. */
export function answerEvent(
  id: string,
  answer: ClientAnswer,
  knownKind: string | undefined,
): RecordedEvent {
  const { provenance: by } = answer;
  if ('error' in answer) {
    return { kind: knownKind ?? 'answer', id, outcome: 'error', value: { ...answer.error }, by };
  }
  const { result } = answer;
  const kind = knownKind ?? kindOfResult(result);
  if (isJsonObject(result)) {
    const { action, content, roots } = result;
    if (kind === 'elicit' || kind === 'elicitUrl') {
      if (action === 'decline') return { kind, id, outcome: 'declined', by };
      if (action === 'cancel') return { kind, id, outcome: 'cancelled', by };
      if (action === 'accept' && content === undefined)
        return { kind, id, outcome: 'accepted', by };
      if (action === 'accept') return { kind, id, outcome: 'accepted', value: content as Json, by };
    }
    if (kind === 'roots' && roots !== undefined)
      return { kind, id, outcome: 'accepted', value: roots, by };
    if (kind === 'sample') return { kind, id, outcome: 'accepted', value: result, by };
  }
  return { kind, id, outcome: 'answered', value: result, by };
}

function kindOfResult(result: Json): string {
  if (!isJsonObject(result)) return 'answer';
  if ('action' in result) return 'elicit';
  return 'roots' in result ? 'roots' : 'sample';
}

const answering: ReadonlySet<string> = new Set([
  'elicit',
  'elicitUrl',
  'sample',
  'roots',
  'answer',
]);
const outcomes: ReadonlySet<string> = new Set([
  'accepted',
  'declined',
  'cancelled',
  'error',
  'answered',
]);

/** `true` if an event is an answer of the client. */
export function isAnswer({ kind, outcome }: RecordedEvent): boolean {
  return answering.has(kind) && outcomes.has(outcome);
}

export function toAnswer({
  kind,
  outcome,
  value,
  by: provenance = 'client',
}: RecordedEvent): ClientAnswer {
  switch (outcome) {
    case 'error':
      return {
        error: value as Extract<ClientAnswer, { readonly error: unknown }>['error'],
        provenance,
      };
    case 'declined':
      return { result: { action: 'decline' }, provenance };
    case 'cancelled':
      return { result: { action: 'cancel' }, provenance };
    case 'accepted':
      return { result: accepted(kind, value), provenance };
    default:
      return { result: value ?? null, provenance };
  }
}

function accepted(kind: string, value: Json | undefined): Json {
  if (kind === 'sample') return value ?? null;
  if (kind === 'roots') return { roots: value ?? null };
  return { action: 'accept', ...(value === undefined ? {} : { content: value }) };
}
