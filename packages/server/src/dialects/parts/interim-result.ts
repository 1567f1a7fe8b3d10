import { present } from '@mcp-saga/core/program';
import type {
  ClientStep,
  ContentBlock,
  Json,
  MessageContent,
  SamplingMessage,
  Program,
  ToolResult,
} from '@mcp-saga/core';
import { toHandle } from '../../token/handles.ts';
import type { HostParts } from '../../settings/host-parts.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import { unfinishedContent } from '../../wire/result-schema.ts';
import { extensionKey } from '../../wire/tool-result.ts';
import { formatExpiry, toWireStep, needOf } from '../../wire/step-requests.ts';
import type { SagaHostCore } from '../../requests/host.ts';
import { resumeTokenMethod } from '../../token/sealed-saga.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { changedTurn, turnFor } from '../../token/saga-of-turn.ts';

/**
 * Encodes a waiting saga as a tool result. The text is for the model, `_meta` for hosts, in the
 * form of the saga methods. After a wrong answer, the result is an error, so that the model
 * corrects the answer instead of reporting success.
 */
export async function toInterimResult(
  host: HostParts,
  { output }: Pick<Program, 'output'>,
  suspended: SuspendedTurn,
): Promise<ToolResult & { readonly nextResumeToken: string }> {
  const turn = { ...suspended, token: await toHandle(host, suspended) };
  const { token, steps, retryAfterMs, content = [], sagaId } = turn;
  const texts = [
    ...content,
    ...(turn.invalidAnswers === undefined ? [] : [`No answer was used. ${turn.invalidAnswers}`]),
    ...onUnknown(turn),
    steps.length === 0 ? onWaiting(turn) : onAnswering(turn),
  ];
  const hints = {
    expiresAt: formatExpiry(turn),
    ...present({ retryAfterMs }),
    ...(steps.length === 0 ? {} : { steps: steps.map((step) => toWireStep(step, sagaId)) }),
  };
  return {
    content: [
      ...texts.map((text): ContentBlock => ({ type: 'text', text })),
      ...steps.flatMap(mediaOf),
    ],
    // Clients check the result by the listed schema of the tool.
    ...(output === undefined ? {} : { structuredContent: unfinishedContent(texts) }),
    ...(hasWrongAnswer(turn) ? { isError: true } : {}),
    nextResumeToken: token,
    _meta: { [extensionKey]: hints },
  };
}

function hasWrongAnswer({ invalidAnswers, unknown = [], steps }: SuspendedTurn): boolean {
  if (invalidAnswers !== undefined || unknown.length > 0) return true;
  return steps.some(({ reason }) => reason !== undefined);
}

/** Lists unused answers, because the model would otherwise rely on them. */
function onUnknown({ unknown = [], steps }: SuspendedTurn): readonly string[] {
  if (unknown.length === 0) return [];
  const open = steps.map(({ stepId }) => JSON.stringify(stepId)).join(', ');
  const asked = steps.length === 0 ? 'No question is open now' : `Open questions: ${open}`;
  return [
    `Answers of steps without an open question were not used: ` +
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
  const answers = steps
    .map((step) => `${JSON.stringify(step.stepId)}: ${patternOf(step)}`)
    .join(', ');
  return [
    'This call is not finished: it needs answers.',
    ...steps.map(questionOf),
    [
      ...(isForUser
        ? [
            'Answer for the user only what the user has told you; ask the user whatever you do not know. If the user ' +
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

function questionOf(step: ClientStep): string {
  const { type, stepId, params, reason } = step;
  const lines = type === 'sampling' ? onSampling(params) : onElicitation(params);
  return [
    `Step ${JSON.stringify(stepId)}, ${type === 'sampling' ? 'for you' : 'for the user'}:`,
    ...(reason === undefined ? [] : [`(The last answer was rejected: ${reason})`]),
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

function onSampling({
  messages,
  maxTokens,
  systemPrompt,
}: ClientStep['params']): readonly string[] {
  return [
    `Write the next message of this conversation, in at most ${JSON.stringify(maxTokens)} tokens.`,
    ...(typeof systemPrompt === 'string' ? [`system: ${systemPrompt}`] : []),
    ...toMessages(messages).flatMap(({ role, content }) =>
      content.map((block) =>
        block.type === 'text'
          ? `${role}: ${block.text}`
          : `${role}: [${block.type}, ${block.mimeType}: see below]`,
      ),
    ),
  ];
}

function patternOf({ type, params }: ClientStep): string {
  if (type === 'sampling') return '"<the message>"';
  return params['mode'] === 'url' ? '{"action": "accept"}' : '{"action": "accept", "content": {…}}';
}

/** Returns the images and sounds of a conversation, which text cannot show. */
function mediaOf({ type, params }: ClientStep): readonly ContentBlock[] {
  if (type !== 'sampling') return [];
  return toMessages(params['messages']).flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [] : [{ ...block }])),
  );
}

interface ShownMessage {
  readonly role: string;
  readonly content: readonly MessageContent[];
}

/** Messages of the author, checked when asked. No calls of tools: the model may not answer those. */
function toMessages(messages: Json | undefined): readonly ShownMessage[] {
  return (messages as unknown as readonly SamplingMessage[]).map(({ role, content }) => ({
    role,
    content: [content].flat() as readonly MessageContent[],
  }));
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

/** Returns the steps that the client does during the call. */
export function stepsForClient(
  { client }: Pick<ClientCall, 'client'>,
  { steps }: Pick<SuspendedTurn, 'steps'>,
): readonly ClientStep[] {
  return steps.filter((step) => client.asks.includes(needOf(step)));
}

/**
 * `true` if a call ends before the saga: only a page or the model can answer, or the wait is longer
 * than `maxWait` ms.
 */
export function endsBeforeSaga(
  call: Pick<ClientCall, 'method' | 'client'>,
  turn: SuspendedTurn,
  maxWait: number,
): boolean {
  if (call.method !== 'tools/call') return false;
  const { steps, retryAfterMs = 0, hasPage = false } = turn;
  if (steps.length === 0) return hasPage || retryAfterMs > maxWait;
  return hasPage || stepsForClient(call, turn).length === 0;
}

/**
 * Ends a call with an interim result and a resume token. The result leaves out the steps for the
 * client.
 */
export async function endWithToken(
  host: SagaHostCore,
  call: Pick<ClientCall, 'client' | 'saga'>,
  turn: SuspendedTurn,
): Promise<object> {
  const forClient = stepsForClient(call, turn);
  const steps = turn.steps.filter((step) => !forClient.includes(step));
  const copied = await turnFor(host, resumeTokenMethod, turn);
  return await toInterimResult(host, call.saga, await changedTurn(host, copied, { steps }));
}
