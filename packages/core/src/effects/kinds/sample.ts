import type { Answerer } from '../../model/answerer.ts';
import type { SampleParams, SampleResult } from '../../model/client-step.ts';
import { assertJson, isJsonObject, type Json } from '../../values/json.ts';
import { withinGrace } from '../parts/abort-grace.ts';
import type { Acceptance, Effect, Fields, Given, Spec } from '../parts/effect.ts';
import { accepted, unanswered, untilTtl } from '../parts/effect-entries.ts';

/** Specification of a request to the model of the client. */
export interface SampleSpec extends Spec {
  readonly kind: 'sample';
  readonly params: SampleParams;
  readonly ttl: number | undefined;
  readonly answeredBy: readonly Answerer[] | undefined;
}

export const sample: Effect<SampleSpec> = {
  place: 'client',
  entries: ['sampled', 'sampledHere', 'failed', ...unanswered],
  request: ({ params }) => [params],
  question: {
    type: 'sampling',
    need: ({ params }) => samplingNeed(params),
    params: ({ id, params }) => {
      const sent: unknown = { ...params };
      assertJson(sent, { where: `params of sample('${id}')` });
      return sent as Fields;
    },
    accept: acceptSample,
    answerHere: {
      type: 'sampledHere',
      run: async ({ params }, path, runtime, given) => {
        const sampling = Promise.resolve(runtime.questions.sample(params, given));
        return (await withinGrace(`The sample '${path}'`, sampling, runtime)) ?? null;
      },
    },
  },
  toValue: (_, type, value) =>
    type === 'sampled' || type === 'sampledHere' ? toSampleResult(value as Fields) : undefined,
  deadline: untilTtl,
};

/**
 * Accepts MCP's `CreateMessageResult`. Its content is a block or, since 2025-11-25, a list of
 * blocks. The journal keeps the form that the client chose.
 */
function acceptSample(_: SampleSpec, result: Fields, answer: Given): Acceptance {
  const { role, content, model } = result;
  if (role !== 'assistant' && role !== 'user')
    return { reason: "role: expected 'assistant' or 'user'" };
  if (typeof model !== 'string') return { reason: 'model: expected a string' };
  const reason = isList(content)
    ? content
        .map((block, index) => problemOf(block, `content[${index}]`))
        .find((problem) => problem !== undefined)
    : problemOf(content, 'content');
  return reason === undefined ? accepted('sampled', result, answer) : { reason };
}

/**
 * Capability that a client needs for a request. A client without tools also gets no later message of
 * a conversation in which another model has called them: it could not read the blocks.
 */
export function samplingNeed(params: {
  readonly messages?: unknown;
  readonly tools?: unknown;
  readonly toolChoice?: unknown;
}): 'sampling' | 'sampling.tools' {
  const { messages, tools, toolChoice } = params;
  const blocks = [messages].flat().flatMap((message) => (Object(message) as Fields)['content']);
  const tellsOfTools = blocks.some((block) => {
    const { type } = Object(block) as Fields;
    return type === 'tool_use' || type === 'tool_result';
  });
  return tools !== undefined || toolChoice !== undefined || tellsOfTools
    ? 'sampling.tools'
    : 'sampling';
}

/** The strings that a block of each type must have. */
const stringsOf: { readonly [type: string]: readonly string[] } = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  tool_use: ['id', 'name'],
  tool_result: ['toolUseId'],
};

/** Returns what a block lacks, or undefined for a valid block. */
function problemOf(block: Json | undefined, place: string): string | undefined {
  if (!isJsonObject(block)) return `${place}: expected an object`;
  const { type } = block;
  const strings =
    typeof type === 'string' && Object.hasOwn(stringsOf, type) ? stringsOf[type] : undefined;
  if (strings === undefined)
    return `${place}.type: expected one of '${Object.keys(stringsOf).join("', '")}'`;
  const missing = strings.find((field) => typeof block[field] !== 'string');
  if (missing !== undefined) return `${place}.${missing}: expected a string`;
  return type === 'tool_use' && !isJsonObject(block['input'])
    ? `${place}.input: expected an object`
    : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

type Block = NonNullable<SampleResult['blocks']>[number];

/**
 * Gives the body a single block of text or media, so that it need not know which form of content
 * the client chose. All other content is in `blocks`.
 */
function toSampleResult(result: Fields): object {
  const sent = result['content'];
  const blocks = [sent].flat() as unknown as readonly Block[];
  const media = blocks.find(({ type }) => type === 'image' || type === 'audio');
  const texts = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  if (!isList(sent) && (media !== undefined || texts.length > 0)) return withoutBlocks(result);
  const text: Block = { type: 'text', text: texts.join('') };
  return { ...result, content: texts.length === 0 ? (media ?? text) : text, blocks };
}

/** MCP allows other members beside its own, but the name `blocks` is ours. */
function withoutBlocks(result: Fields): object {
  if (!Object.hasOwn(result, 'blocks')) return result;
  const { blocks: _, ...others } = result;
  return others;
}
