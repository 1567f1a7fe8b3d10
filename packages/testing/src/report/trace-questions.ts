import type { ClientStep, Json } from '@mcp-saga/server';
import type { QuestionKind } from './trace.ts';

/** Effect that asks a question. */
export function kindOfStep({ type, params }: Pick<ClientStep, 'type' | 'params'>): QuestionKind {
  if (type === 'sampling') return 'sample';
  if (type === 'roots') return 'roots';
  return params['mode'] === 'url' ? 'elicitUrl' : 'elicit';
}

export function messageOf({ type, params }: Pick<ClientStep, 'type' | 'params'>): string {
  if (type === 'elicitation') return typeof params['message'] === 'string' ? params['message'] : '';
  if (type === 'roots') return '';
  const messages = Array.isArray(params['messages']) ? params['messages'] : [];
  return messages.map((message) => textOf(message)).join('\n');
}

interface Block {
  readonly type?: string;
  readonly text?: string;
}

function textOf(message: Json): string {
  const { content = {} } = Object(message) as { readonly content?: Block | readonly Block[] };
  return [content]
    .flat()
    .map(({ type = 'nothing', text = `(${type})` }) => text)
    .join(' ');
}
