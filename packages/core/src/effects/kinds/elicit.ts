import { formOf } from '../../values/form.ts';
import type { Answerer } from '../../model/answerer.ts';
import { assertJson, isJsonObject, isSameJson } from '../../values/json.ts';
import { parseContent } from '../../values/form-content.ts';
import type { Schema } from '../../values/standard-schema.ts';
import { performed } from '../parts/run-code.ts';
import type { Acceptance, Effect, Fields, Given, Spec } from '../parts/effect.ts';
import { accepted, unanswered, untilTtl } from '../parts/effect-entries.ts';

/** Specification of a form for the user. */
export interface ElicitSpec extends Spec {
  readonly kind: 'elicit';
  readonly message: string;
  readonly schema: Schema;
  /** Returns a refusal as a value instead of throwing it. */
  readonly asOutcome: boolean;
  readonly ttl: number | undefined;
  readonly answeredBy: readonly Answerer[] | undefined;
  /** Answer for clients that cannot be asked: a content or a function. Undefined: none. */
  readonly fallback: unknown;
}

/** Specification of a URL for the user. */
export interface ElicitUrlSpec extends Spec {
  readonly kind: 'elicitUrl';
  readonly message: string;
  readonly url: string;
  readonly ttl: number | undefined;
  readonly answeredBy: readonly Answerer[] | undefined;
}

export const elicit: Effect<ElicitSpec> = {
  place: 'client',
  entries: ['accepted', 'parsed', 'declined', 'dismissed', 'failed', ...unanswered],
  request: ({ message }) => [message],
  question: {
    type: 'elicitation',
    need: () => 'elicitation',
    params: ({ id, message, schema }) => ({ message, requestedSchema: formOf(id, schema) }),
    accept: ({ schema }, result, given) => acceptElicitation(result, given, schema),
    answerHere: {
      type: 'parsed',
      run: async ({ fallback }, path, runtime, given) => {
        const step = { ...given, attempt: 1 };
        const content =
          typeof fallback === 'function'
            ? await performed(runtime, 'fallback', path, fallback as (step: never) => unknown, step)
            : fallback;
        return { action: 'accept', content };
      },
    },
  },
  toValue: ({ asOutcome }, type, value) => {
    if (!asOutcome) return undefined;
    if (type === 'accepted' || type === 'parsed') return { action: 'accept', content: value };
    if (type === 'declined') return { action: 'decline' };
    return type === 'dismissed' ? { action: 'cancel' } : undefined;
  },
  deadline: untilTtl,
};

export const elicitUrl: Effect<ElicitUrlSpec> = {
  place: 'client',
  entries: ['agreed', 'declined', 'dismissed', ...unanswered],
  request: ({ message, url }) => [message, url],
  question: {
    type: 'elicitation',
    need: () => 'elicitation.url',
    params: ({ message, url }) => ({ mode: 'url', message, url }),
    accept: (_, result, given) => acceptElicitation(result, given, undefined),
  },
  deadline: untilTtl,
};

async function acceptElicitation(
  result: Fields,
  answer: Given,
  schema: Schema | undefined,
): Promise<Acceptance> {
  const { action, content } = answer.provenance === 'model' ? asWritten(result) : result;
  if (action !== 'accept' && action !== 'decline' && action !== 'cancel')
    return { reason: "action: expected 'accept', 'decline' or 'cancel'" };
  if (action !== 'accept' || schema === undefined) {
    const type = action === 'accept' ? 'agreed' : action === 'decline' ? 'declined' : 'dismissed';
    return { entry: { type, answer }, value: undefined };
  }
  // MCP lets a client leave out the content of a form. Some clients write null for it.
  const given = content ?? {};
  if (!isJsonObject(given)) return { reason: 'content: expected an object' };
  const parsed = await parseContent(schema, given);
  if (!parsed.ok) return { reason: parsed.issues };
  // A value changed by the schema may contain data that the client does not know, and is not
  // compressed.
  return accepted(isSameJson(parsed.value, given) ? 'accepted' : 'parsed', parsed.value, answer);
}

/**
 * Reads the answer of a model that wrote JSON in a string. Whoever decodes a request does not know
 * what a step asks, and passes a string on as a message, which it is for a step that samples. For a
 * form or a URL, only JSON can be meant. Returns every other result as it is.
 */
function asWritten(result: Fields): Fields {
  const { action, content } = result;
  if (action !== undefined || !isJsonObject(content)) return result;
  const { type, text } = content;
  if (type !== 'text' || typeof text !== 'string') return result;
  try {
    const written: unknown = JSON.parse(text);
    assertJson(written, { where: 'content' });
    if (!isJsonObject(written)) return result;
    return Object.hasOwn(written, 'action') ? written : { action: 'accept', content: written };
  } catch {
    return result;
  }
}
