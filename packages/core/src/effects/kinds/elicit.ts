import { isSameJson } from '../../values/json.ts';
import { fingerprintOfElicitation } from '../../values/fingerprint.ts';
import { formOf } from '../../values/form-of.ts';
import { validate, type Schema } from '../../values/standard-schema.ts';
import { performed } from '../parts/run-code.ts';
import type { Acceptance, Effect, Fields, Given, Spec } from '../parts/effect.ts';
import { accepted, isFields } from '../parts/entries.ts';

/** Asks the user with a form. */
export interface ElicitSpec extends Spec {
  readonly kind: 'elicit';
  readonly message: string;
  readonly schema: Schema;
  /** Whether a refusal comes back as a value instead of being thrown. */
  readonly asOutcome: boolean;
  readonly ttl: number | undefined;
  readonly accept: 'client' | 'model' | undefined;
  /** The content, or what makes it, where the client cannot be asked; undefined: there is none. */
  readonly fallback: unknown;
}

/** Sends the user to a URL. */
export interface ElicitUrlSpec extends Spec {
  readonly kind: 'elicitUrl';
  readonly message: string;
  readonly url: string;
  readonly ttl: number | undefined;
  readonly accept: 'client' | 'model' | undefined;
}

/** A form for the user. */
export const elicit: Effect<ElicitSpec> = {
  place: 'client',
  entries: [
    'accepted',
    'parsed',
    'declined',
    'dismissed',
    'clientError',
    'timedOut',
    'clientCannot',
    'failed',
    'withdrawn',
  ],
  request: ({ message }) => ['elicit', message],
  fingerprint: ({ message }) => fingerprintOfElicitation(message),
  question: {
    need: 'elicitation',
    toStep: ({ id, message, schema }, stepId) => ({
      type: 'elicitation',
      stepId,
      params: { message, requestedSchema: formOf(id, schema) },
    }),
    accept: ({ schema }, result, given) =>
      acceptElicitation(result, given, () => parse(schema, result, given)),
    answerHere: {
      type: 'parsed',
      run: async ({ fallback }, path, runtime, given) => {
        if (typeof fallback !== 'function') return { action: 'accept', content: fallback };
        const code = fallback as (step: never) => unknown;
        return {
          action: 'accept',
          content: await performed(runtime, 'fallback', path, code, { ...given, attempt: 1 }),
        };
      },
    },
  },
  outcome: ({ asOutcome }, type, value) => {
    if (!asOutcome) return undefined;
    if (type === 'accepted' || type === 'parsed')
      return { failed: false, value: { action: 'accept', content: value } };
    if (type === 'declined') return { failed: false, value: { action: 'decline' } };
    return type === 'dismissed' ? { failed: false, value: { action: 'cancel' } } : undefined;
  },
  deadline,
};

/** A URL for the user. */
export const elicitUrl: Effect<ElicitUrlSpec> = {
  place: 'client',
  entries: ['agreed', 'declined', 'dismissed', 'clientError', 'timedOut', 'clientCannot', 'withdrawn'],
  request: ({ message, url }) => ['elicitUrl', message, url],
  question: {
    need: 'elicitation.url',
    toStep: ({ message, url }, stepId) => ({
      type: 'elicitation',
      stepId,
      params: { mode: 'url', message, url },
    }),
    accept: (_, result, answer) =>
      acceptElicitation(result, answer, () => ({ entry: { type: 'agreed', answer }, value: undefined })),
  },
  deadline,
};

type Accepting = Acceptance | Promise<Acceptance>;

function acceptElicitation({ action }: Fields, answer: Given, agreed: () => Accepting): Accepting {
  if (action === 'decline') return { entry: { type: 'declined', answer }, value: undefined };
  if (action === 'cancel') return { entry: { type: 'dismissed', answer }, value: undefined };
  return action === 'accept' ? agreed() : { reason: "action: expected 'accept', 'decline' or 'cancel'" };
}

async function parse(schema: Schema, { content }: Fields, answer: Given): Promise<Acceptance> {
  if (!isFields(content)) return { reason: 'content: expected an object' };
  const parsed = await validate(schema, content);
  if (!parsed.ok) return { reason: parsed.issues };
  // A value that a schema made of the answer may hold what the client does not know: it is not compressed (T10).
  return accepted(isSameJson(parsed.value, content) ? 'accepted' : 'parsed', parsed.value, answer);
}

/** Times are rounded up: tokens hold whole milliseconds, and nothing is due early. */
function deadline({ ttl }: { readonly ttl: number | undefined }, since: number): number | undefined {
  return ttl === undefined ? undefined : Math.ceil(since + ttl);
}
