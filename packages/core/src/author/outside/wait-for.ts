import { assertKnownOptions, assertOneOf } from '../../values/known-options.ts';
import type { NamesOf } from '../../values/unknown-option.ts';
import { AuthoringError, StepTimedOut } from '../../values/errors.ts';
import { checkedDuration } from '../../values/checked-duration.ts';
import type { Duration } from '../../values/duration.ts';
import type { InferOutput, Schema } from '../../values/standard-schema.ts';
import type { Command, Steps } from '../../model/command.ts';
import { questionScope } from '../all-race-scope.ts';
import { firstEvent, type ReceivedEvent } from './decide-by-answers.ts';
import {
  leastReceiptBytes,
  waitOutside,
  type DeliveryStep,
  type OutsideWait,
} from './wait-outside.ts';

/** Context of a registration: passes `url` to the other system. */
export interface Registration extends DeliveryStep {
  /** URL of the webhook. A secret: pass it to the other system only, and keep it out of logs. */
  readonly url: string;
}

/** Options of {@link waitFor}. Either `verify` or `link` says which events are authentic. */
export type WaitForOptions<S extends Schema> = WaitOptions<S> & (Verified | ByLink);

interface WaitOptions<S extends Schema> {
  /**
   * Schema of the event, as JSON. The first event that matches is the result. Other events are
   * ignored.
   */
  readonly schema: S;
  /** Registers the URL at the other system. A server step with three attempts. */
  readonly register: (registration: Registration) => unknown;
  /** Time to wait. */
  readonly timeout: Duration;
}

interface Verified {
  /**
   * Name of the check of the request in `webhooks` of the host, which runs where the event
   * arrives.
   */
  readonly verify: string;
  readonly link?: ['With `verify`, omit `link`'];
}

interface ByLink {
  /** `accept` needs no check: the URL alone authorizes an event. */
  readonly link: 'accept';
  readonly verify?: ['With `link`, omit `verify`'];
}

const names: NamesOf<WaitForOptions<Schema>> = {
  schema: true,
  register: true,
  verify: true,
  link: true,
  timeout: true,
};

// More than any webhook sends, and than a token of the default size holds.
const mostEventBytes = 256 * 1024;

/**
 * Waits for an event that another system posts to a URL of the host. Returns the first event that
 * matches the schema.
 *
 * The process that receives an event does not run the saga, so the check of its signature is an
 * option of the host: `verify` names it.
 * @throws StepTimedOut (in the body) if no event arrives in time
 * @throws StepError (in the body) if the registration fails three times
 * @throws ClientCannot (in the body) if the client cannot wait
 * @example
 * ```ts
 * const Payment = z.object({ status: z.literal('paid'), reference: z.string() });
 * function* checkout(): Steps<string> {
 *   const payment = yield* waitFor('payment', {
 *     schema: Payment,
 *     register: ({ url, idempotencyKey }) => bank.checkout(url, { idempotencyKey }),
 *     verify: 'bank',
 *     timeout: '1d',
 *   });
 *   return payment.reference;
 * }
 * ```
 */
export function waitFor<S extends Schema>(
  id: string,
  options: WaitForOptions<S>,
): Command<InferOutput<S>> {
  return questionScope('waitFor', id, waitForSteps(id, options));
}

/** Steps of {@link waitFor} without the scope. Checks the options at once. */
export function waitForSteps<S extends Schema>(
  id: string,
  options: WaitForOptions<S>,
): Steps<InferOutput<S>> {
  assertKnownOptions('waitFor', id, options, names);
  const { schema, register, verify, link, timeout } = options;
  if (schema?.['~standard'] === undefined)
    throw new AuthoringError(
      `waitFor('${id}') needs a schema: z.object({…}), or another Standard Schema.`,
      { anchor: 'approvals-and-webhooks' },
    );
  if (typeof register !== 'function')
    throw new AuthoringError(`waitFor('${id}') needs a function \`register\`.`, {
      anchor: 'approvals-and-webhooks',
    });
  assertOneOf(`\`link\` of waitFor('${id}')`, link, ['accept']);
  if ((typeof verify === 'string') === (link !== undefined)) {
    throw new AuthoringError(
      `waitFor('${id}') needs either verify: the name of a check in \`webhooks\` of the host, or link: 'accept'.`,
      { anchor: 'approvals-and-webhooks' },
    );
  }
  const timeoutMs = checkedDuration(`\`timeout\` of waitFor('${id}')`, timeout, 'more than 0');
  const wait: OutsideWait<ReceivedEvent> = {
    question: {
      kind: 'event',
      message: '',
      form: { type: 'object', properties: {} },
      allowsCaller: true,
      acceptsLink: link === 'accept',
      ...(typeof verify === 'string' ? { verify } : {}),
    },
    deliverId: 'register',
    deliver: register,
    levels: [{ afterMs: 0, by: null, recipients: [{ to: undefined, number: 0 }] }],
    timeoutMs,
    reminders: { everyMs: Infinity, most: 0 },
    counts: { answers: 1, least: leastReceiptBytes, most: mostEventBytes },
    report: `Waiting for an event: ${id}.`,
    decide: (answers, judging) => firstEvent(answers, schema, judging),
  };
  return received(id, wait);
}

function* received(id: string, wait: OutsideWait<ReceivedEvent>): Steps<unknown> {
  const event = yield* waitOutside(wait);
  if (event === undefined) throw new StepTimedOut(id);
  return event.event;
}
