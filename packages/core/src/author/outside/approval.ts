import type { AnswerBy } from '../../model/register.ts';
import { assertKnownOptions, assertOneOf } from '../../values/known-options.ts';
import type { NamesOf } from '../../values/unknown-option.ts';
import { AuthoringError } from '../../values/errors.ts';
import { formOf, type FormSchema } from '../../values/form.ts';
import { assertJson, type Json } from '../../values/json.ts';
import { checkedDuration } from '../../values/checked-duration.ts';
import type { Duration } from '../../values/duration.ts';
import type { InferInput, InferOutput, Schema } from '../../values/standard-schema.ts';
import type { Command, Steps } from '../../model/command.ts';
import type { CheckedJson } from '../checks/checked-json.ts';
import type { CheckedForm } from '../checks/checked-form-type.ts';
import { questionScope } from '../all-race-scope.ts';
import { mostContentBytes } from './content-bytes.ts';
import { decide, type Approval } from './decide-by-answers.ts';
import {
  leastReceiptBytes,
  mostReceiptBytes,
  numberedRecipients,
  waitOutside,
  type DeliveryStep,
  type Level,
} from './wait-outside.ts';

/** Context of a delivery: sends `url` to the person who answers. */
export interface Delivery<T = Json> extends DeliveryStep {
  /** Link to the answer page. A secret: pass it to the recipient only, and keep it out of logs. */
  readonly url: string;
  /** Recipient of this delivery, from `to`. Undefined without `to`. */
  readonly to: T | undefined;
  /** People who may answer, from `by` of the approval or of the escalation. */
  readonly by: Json | undefined;
  /** `true` for a reminder. */
  readonly isReminder: boolean;
}

/** Escalation of an approval. */
export interface Escalation<T = Json> {
  /** Time after the start of the approval. */
  readonly after: Duration;
  /** People who may answer from then on, besides those before. Default: `by` of the approval. */
  readonly by?: AnswerBy;
  /** Recipients of the escalation. Default: one delivery without a recipient. */
  readonly to?: readonly T[];
}

/** Options of {@link approval}, with recipients of the type `T`, and people of the type `B`. */
export interface ApprovalOptions<S extends Schema, T = Json, B = Json> {
  /** Text of the question. */
  readonly message: string;
  /**
   * Fields of the form above the two buttons: a flat object schema, as for `elicit`. Default: no
   * fields.
   */
  readonly schema?: CheckedForm<InferInput<S>, S>;
  /** Number of approvals needed, up to 256. @default 1 */
  readonly of?: number;
  /** Number of denials that end the approval, up to 256. @default 1 */
  readonly denials?: number;
  /**
   * People who may answer, as JSON, passed to `auth.mayAnswer` of the host. Default: any
   * authenticated user except the caller.
   */
  readonly by?: B;
  /** `true` lets the caller of the saga answer, too. @default false */
  readonly allowCaller?: boolean;
  /**
   * `accept` lets anyone who has the link answer without authentication, once per recipient: `of`
   * is then at most the number of recipients. Default: authenticated users only.
   */
  readonly link?: 'accept';
  /** Recipients, each with their own delivery and link. Default: one delivery. */
  readonly to?: readonly T[];
  /**
   * Sends a link. A server step with three attempts: once for each recipient, reminder, and
   * escalation.
   */
  readonly deliver: (delivery: Delivery<T>) => unknown;
  /**
   * Interval of reminders. Recipients in `to` who have answered get no reminder.
   * Reminders end after 400 to all recipients, so that they fit the token. Default: no reminders.
   */
  readonly remindEvery?: Duration;
  /** Time for answers, from the start of the approval. */
  readonly timeout: Duration;
  /** More people to ask if there is no decision after a time. */
  readonly escalate?: readonly Escalation<T>[];
}

/** Checks that the recipients and the people of an approval are JSON. */
interface CheckedPeople<T, B> {
  readonly to?: readonly CheckedJson<T, 'A recipient of an approval'>[];
  readonly by?: AnswerBy<CheckedJson<B, '`by` of an approval'>>;
}

const names: NamesOf<ApprovalOptions<Schema>> = {
  message: true,
  schema: true,
  of: true,
  denials: true,
  by: true,
  allowCaller: true,
  link: true,
  to: true,
  deliver: true,
  remindEvery: true,
  timeout: true,
  escalate: true,
};
const escalationNames: NamesOf<Escalation> = {
  after: true,
  by: true,
  to: true,
};

/** Form without fields. */
export type NoFields = Schema<Record<string, never>>;

/**
 * Asks people other than the user of the client to approve or deny, on a page that the host serves.
 * Waits until enough people have answered, or the time is over. The journal records the decision
 * with a receipt for each answer that counted.
 *
 * The first answer of a person counts. The decision depends only on the order of the answers, never
 * on when the client returns. Without a queue, reminders and escalations are sent when the client
 * calls.
 * @throws StepError (in the body) if a delivery fails three times
 * @throws ClientCannot (in the body) if the client cannot wait
 * @example
 * ```ts
 * function* refund(cents: number): Steps<string> {
 *   const decision = yield* approval('manager', {
 *     message: `Refund ${cents} cents?`,
 *     by: { role: 'manager' },
 *     deliver: ({ url, idempotencyKey }) => mail.send(`Please decide: ${url}`, { idempotencyKey }),
 *     timeout: '2d',
 *   });
 *   return decision.approved ? 'approved' : decision.reason;
 * }
 * ```
 */
export function approval<S extends Schema = NoFields, const T = Json, const B = Json>(
  id: string,
  options: ApprovalOptions<S, T, B> & CheckedPeople<NoInfer<T>, NoInfer<B>>,
): Command<Approval<InferOutput<S>>> {
  return questionScope('approval', id, approvalSteps(id, options));
}

/** Steps of {@link approval} without the scope. Checks the options at once. */
export function approvalSteps<S extends Schema, T, B>(
  id: string,
  options: ApprovalOptions<S, T, B>,
): Steps<Approval<InferOutput<S>>> {
  assertKnownOptions('approval', id, options, names);
  // The assertions below check what the types of the options say.
  const given = options as unknown as ApprovalOptions<S>;
  const { message, of = 1, denials = 1, by = null, allowCaller = false, link, to } = given;
  const { deliver, remindEvery, timeout, escalate = [] } = given;
  const schema = options.schema as S | undefined;
  if (typeof message !== 'string')
    throw new AuthoringError(`approval('${id}') needs a message, a string.`, {
      anchor: 'approvals-and-webhooks',
    });
  if (typeof deliver !== 'function')
    throw new AuthoringError(`approval('${id}') needs a function \`deliver\`.`, {
      anchor: 'approvals-and-webhooks',
    });
  assertCount(`\`of\` of approval('${id}')`, of);
  assertCount(`\`denials\` of approval('${id}')`, denials);
  assertOneOf(`\`link\` of approval('${id}')`, link, ['accept']);
  assertJson([by, to ?? []], { where: `\`by\` and \`to\` of approval('${id}')` });
  const timeoutMs = checkedDuration(`\`timeout\` of approval('${id}')`, timeout, 'more than 0');
  const everyMs =
    remindEvery === undefined
      ? Infinity
      : checkedDuration(`\`remindEvery\` of approval('${id}')`, remindEvery, 'more than 0');
  if (to?.length === 0)
    throw new AuthoringError(`\`to\` of approval('${id}') needs a recipient.`, {
      anchor: 'approvals-and-webhooks',
    });
  const stages = [{ afterMs: 0, by, to }, ...checkedEscalations(id, by, escalate)];
  const numbered = numberedRecipients(stages.map((stage) => stage.to));
  const tickets = numbered.flat();
  const people = new Set(tickets.map(({ number }) => number)).size;
  if (link === 'accept' && of > people) {
    throw new AuthoringError(
      `\`of\` of approval('${id}') is ${of}, but a link counts once, and the number of recipients is ${people}. ` +
        'List a recipient in `to` for each approval needed, or lower `of`.',
      { anchor: 'approvals-and-webhooks' },
    );
  }
  const levels = stages.map(({ afterMs, by: who }, at): Level => {
    return { afterMs, by: who, recipients: numbered[at] ?? [] };
  });
  const form: FormSchema =
    schema === undefined ? { type: 'object', properties: {} } : formOf(id, schema, 'approval');
  const wait = {
    question: {
      kind: 'approval',
      message,
      form,
      allowsCaller: allowCaller,
      acceptsLink: link === 'accept',
    },
    deliverId: 'deliver',
    deliver,
    levels: levels as [Level, ...Level[]],
    timeoutMs,
    reminders: {
      everyMs,
      most: Math.floor(mostReminders / tickets.length),
    },
    // Any more answers than these decide for certain.
    counts: {
      answers: of + denials - 1,
      least: leastReceiptBytes,
      most: mostReceiptBytes + mostContentBytes(form),
    },
    report: `Waiting for approval: ${id}.`,
    decide: (answers, judging) => decide(answers, { schema, of, denials }, judging),
  } satisfies Parameters<typeof waitOutside<Approval<unknown>>>[0];
  return waitOutside<Approval<unknown>>(wait) as Steps<Approval<InferOutput<S>>>;
}

/** Stage of an approval: a time, the people asked from then on, and those who get a link. */
interface Stage {
  readonly afterMs: number;
  readonly by: Json;
  readonly to: readonly Json[] | undefined;
}

function checkedEscalations(
  id: string,
  by: Json,
  escalate: readonly Escalation[],
): readonly Stage[] {
  let before = 0;
  return escalate.map((escalation, index) => {
    const { after, by: others = by, to } = escalation;
    assertKnownOptions('escalate of approval', id, escalation, escalationNames);
    const afterMs = checkedDuration(
      `\`after\` of escalate[${index}] of approval('${id}')`,
      after,
      'more than 0',
    );
    if (afterMs <= before)
      throw new AuthoringError(
        `\`escalate\` of approval('${id}') must be in the order of \`after\`.`,
        { anchor: 'approvals-and-webhooks' },
      );
    before = afterMs;
    assertJson([others, to ?? []], { where: `escalate[${index}] of approval('${id}')` });
    return { afterMs, by: others, to };
  });
}

const mostReminders = 400;

function assertCount(name: string, count: number): void {
  // A host stores as many answers of a question.
  if (Number.isSafeInteger(count) && count > 0 && count <= 256) return;
  throw new AuthoringError(`${name} must be a whole number from 1 to 256.`, {
    anchor: 'approvals-and-webhooks',
  });
}
