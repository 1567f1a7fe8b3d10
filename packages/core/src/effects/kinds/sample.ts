import type { SampleParams } from '../../model/client-step.ts';
import { assertJson, type Json } from '../../values/json.ts';
import { withinGrace } from '../parts/abort-grace.ts';
import type { Acceptance, Effect, Fields, Given, Spec } from '../parts/effect.ts';
import { accepted, isFields } from '../parts/entries.ts';

/** Asks the client's model. */
export interface SampleSpec extends Spec {
  readonly kind: 'sample';
  readonly params: SampleParams;
  readonly ttl: number | undefined;
}

/** A request to the client's model. */
export const sample: Effect<SampleSpec> = {
  place: 'client',
  entries: ['sampled', 'sampledHere', 'clientError', 'timedOut', 'clientCannot', 'failed', 'withdrawn'],
  request: ({ params }) => ['sample', params.messages, params.maxTokens],
  newRequest: ({ params }) => {
    const { messages: _, maxTokens: __, ...others } = params;
    return others;
  },
  question: {
    need: 'sampling',
    toStep: ({ id, params }, stepId) => {
      const sent: unknown = { ...params };
      assertJson(sent, { where: `params of sample('${id}')` });
      return { type: 'sampling', stepId, params: sent as { readonly [key: string]: Json } };
    },
    accept: (_, result, given) => acceptSample(result, given),
    answerHere: {
      type: 'sampledHere',
      run: async ({ params }, path, runtime, given) => {
        const sampling = Promise.resolve(runtime.sample(params, given));
        return (await withinGrace(`The sample '${path}'`, sampling, runtime)) ?? null;
      },
    },
  },
  deadline: ({ ttl }, since) => (ttl === undefined ? undefined : Math.ceil(since + ttl)),
};

function acceptSample(result: Fields, answer: Given): Acceptance {
  const { role, content, model } = result;
  if (role !== 'assistant' && role !== 'user') return { reason: "role: expected 'assistant' or 'user'" };
  if (typeof model !== 'string') return { reason: 'model: expected a string' };
  if (!isFields(content)) return { reason: 'content: expected an object' };
  const { type } = content;
  if (type === 'text' && typeof content['text'] !== 'string')
    return { reason: 'content.text: expected a string' };
  if ((type === 'image' || type === 'audio') && typeof content['data'] !== 'string') {
    return { reason: 'content.data: expected a string' };
  }
  if (type !== 'text' && type !== 'image' && type !== 'audio') {
    return { reason: "content.type: expected 'text', 'image' or 'audio'" };
  }
  return accepted('sampled', result, answer);
}
