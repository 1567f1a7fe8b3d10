import { present } from '@mcp-saga/core/program';
import type { ClientStep, ContentBlock, Json, SamplingMessage, ToolResult } from '@mcp-saga/core';
import { toHandle } from '../../token/handles.ts';
import type { HostParts } from '../../settings/host-parts.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import { extensionKey } from '../../wire/tool-result.ts';
import { formatExpiry, toWireStep } from '../../wire/step-requests.ts';

/** Encodes a waiting saga as a tool result. The text is for the model, `_meta` for hosts, in the form of the saga methods. */
export async function toInterimResult(
  host: HostParts,
  suspended: SuspendedTurn,
): Promise<ToolResult & { readonly nextResumeToken: string }> {
  const turn = { ...suspended, token: await toHandle(host, suspended.token) };
  const { token, steps, retryAfterMs, content = [], sagaId } = turn;
  const hints = {
    expiresAt: formatExpiry(turn),
    ...present({ retryAfterMs }),
    ...(steps.length === 0 ? {} : { steps: steps.map((step) => toWireStep(step, sagaId)) }),
  };
  return {
    content: [
      ...[...content, ...onUnknown(turn), steps.length === 0 ? onWaiting(turn) : onAnswering(turn)].map(
        (text) => ({
          type: 'text',
          text,
        }),
      ),
      ...steps.flatMap(mediaOf),
    ],
    nextResumeToken: token,
    _meta: { [extensionKey]: hints },
  };
}

/** Answers that nobody waits for: a model that is not told of them takes them for given. (W4) */
function onUnknown({ unknown = [], steps }: SuspendedTurn): readonly string[] {
  if (unknown.length === 0) return [];
  const open = steps.map(({ stepId }) => JSON.stringify(stepId)).join(', ');
  const asked = steps.length === 0 ? 'No step asks anything now' : `The steps that ask are: ${open}`;
  return [
    `These are not steps of this call that ask anything, and their answers were not used: ` +
      `${unknown.map((id) => JSON.stringify(id)).join(', ')}. ${asked}.`,
  ];
}

function onWaiting(turn: SuspendedTurn): string {
  const { token, retryAfterMs = 0 } = turn;
  const when = retryAfterMs > 0 ? `Wait ${inWords(retryAfterMs)}, then call` : 'Call';
  return (
    `This call is not finished. ${when} this tool again with the same arguments and one more, before ` +
    `${formatExpiry(turn)}. The argument resumeToken is exactly this:\n${token}`
  );
}

function onAnswering(turn: SuspendedTurn): string {
  const { token, steps } = turn;
  const isForUser = steps.some(({ type }) => type === 'elicitation');
  const answers = steps.map((step) => `${JSON.stringify(step.stepId)}: ${patternOf(step)}`).join(', ');
  return [
    'This call is not finished: it needs answers.',
    ...steps.map(questionOf),
    [
      ...(isForUser
        ? [
            'Answer for the user only what the user has told you; ask the user whatever you do not know. Where the user ' +
              'refuses, answer {"action": "decline"}.',
          ]
        : []),
      `Then call this tool again with the same arguments and two more, before ${formatExpiry(turn)}. The argument answers is ` +
        'a string of JSON in this form:',
      `{${answers}}`,
      'The argument resumeToken is exactly this:',
      token,
    ].join('\n'),
  ].join('\n\n');
}

/** One step, as a model can act on it. */
function questionOf(step: ClientStep): string {
  const { type, stepId, params, reason } = step;
  const lines = type === 'sampling' ? onSampling(params) : onElicitation(params);
  return [
    `Step ${JSON.stringify(stepId)}, ${type === 'sampling' ? 'for you' : 'for the user'}:`,
    ...(reason === undefined ? [] : [`(The last answer was not accepted: ${reason})`]),
    ...lines,
  ].join('\n');
}

function onElicitation(params: ClientStep['params']): readonly string[] {
  const { message, mode, url, requestedSchema } = params as { readonly [key: string]: string };
  return [
    message ?? '',
    mode === 'url'
      ? `Show the user this link, to be opened by the user: ${url}`
      : `JSON Schema of the content: ${JSON.stringify(requestedSchema)}`,
  ];
}

function onSampling({ messages, maxTokens, systemPrompt }: ClientStep['params']): readonly string[] {
  return [
    `Write the next message of this conversation, in at most ${JSON.stringify(maxTokens)} tokens.`,
    ...(typeof systemPrompt === 'string' ? [`system: ${systemPrompt}`] : []),
    ...toMessages(messages).map(({ role, content }) =>
      content.type === 'text'
        ? `${role}: ${content.text}`
        : `${role}: [${content.type}, ${content.mimeType}: see below]`,
    ),
  ];
}

function patternOf({ type, params }: ClientStep): string {
  if (type === 'sampling') return '"<the message>"';
  return params['mode'] === 'url' ? '{"action": "accept"}' : '{"action": "accept", "content": {…}}';
}

/** The images and sounds of a conversation, which text cannot show. */
function mediaOf({ type, params }: ClientStep): readonly ContentBlock[] {
  if (type !== 'sampling') return [];
  return toMessages(params['messages']).flatMap(({ content }) =>
    content.type === 'text' ? [] : [{ ...content }],
  );
}

// They are the author's own, and were JSON when they were asked.
function toMessages(messages: Json | undefined): readonly SamplingMessage[] {
  return messages as unknown as readonly SamplingMessage[];
}

function inWords(ms: number): string {
  const units = [
    ['hour', 3_600_000],
    ['minute', 60_000],
    ['second', 1_000],
  ] as const;
  const [unit, length] = units.find(([, size]) => ms >= 2 * size) ?? units[2];
  const count = Math.ceil(ms / length);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
