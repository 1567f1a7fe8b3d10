import type { SampleParams } from '../../model/client-step.ts';
import { assertJson, isJsonObject } from '../../values/json.ts';
import { withinGrace } from '../parts/abort-grace.ts';
import type { Acceptance, Effect, Fields, Given, Spec } from '../parts/effect.ts';
import { accepted, unanswered, untilTtl } from '../parts/effect-entries.ts';

/** Specification of a request to the model of the client. */
export interface SampleSpec extends Spec {
  readonly kind: 'sample';
  readonly params: SampleParams;
  readonly ttl: number | undefined;
}

export const sample: Effect<SampleSpec> = {
  place: 'client',
  entries: ['sampled', 'sampledHere', 'failed', ...unanswered],
  request: ({ params }) => [params.messages, params.maxTokens],
  newRequest: ({ params }) => {
    const { messages: _, maxTokens: __, ...others } = params;
    return others;
  },
  question: {
    type: 'sampling',
    need: 'sampling',
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
  deadline: untilTtl,
};

function acceptSample(_: SampleSpec, result: Fields, answer: Given): Acceptance {
  const { role, content, model } = result;
  if (role !== 'assistant' && role !== 'user')
    return { reason: "role: expected 'assistant' or 'user'" };
  if (typeof model !== 'string') return { reason: 'model: expected a string' };
  if (!isJsonObject(content)) return { reason: 'content: expected an object' };
  const { type } = content;
  if (type !== 'text' && type !== 'image' && type !== 'audio')
    return { reason: "content.type: expected 'text', 'image' or 'audio'" };
  const field = type === 'text' ? type : 'data';
  return typeof content[field] === 'string'
    ? accepted('sampled', result, answer)
    : { reason: `content.${field}: expected a string` };
}
