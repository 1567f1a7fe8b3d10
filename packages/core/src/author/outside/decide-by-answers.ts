import type { OutsideAccess } from '../../effects/parts/outside-code.ts';
import type { OutsideAnswer, Receipt } from '../../model/outside.ts';
import { isJsonObject, type Json } from '../../values/json.ts';
import { parseContent } from '../../values/form-content.ts';
import { validate, type Schema, type Validated } from '../../values/standard-schema.ts';
import { firstOfEach } from './one-person.ts';
import { askAgain, type Judged } from './wait-outside.ts';

/**
 * Answer of one person: an approval with the content of the form, or a denial with the fields that
 * were filled in.
 */
export type ApprovalAnswer<T> = Receipt &
  (
    | { readonly approved: true; readonly content: T }
    | { readonly approved: false; readonly content: Json }
  );

/** Result of `approval`, with all answers that counted. */
export type Approval<T> =
  | { readonly approved: true; readonly answers: readonly ApprovalAnswer<T>[] }
  | {
      readonly approved: false;
      readonly reason: 'denied' | 'timeout';
      readonly answers: readonly ApprovalAnswer<T>[];
    };

/** Rules of a decision. */
export interface Rules {
  readonly schema: Schema | undefined;
  /** Number of approvals that approve. */
  readonly of: number;
  /** Number of denials that deny. */
  readonly denials: number;
}

/** Received event, with its receipt. */
export interface ReceivedEvent extends Receipt {
  readonly event: unknown;
}

/**
 * Decides by the first answers that suffice, so that later answers change nothing. Without enough
 * answers, returns undefined, or `timeout` if `isOver`. Asks again if the schema refused all
 * answers: the form of the page knows less than the schema.
 */
export async function decide(
  answers: readonly OutsideAnswer[],
  { schema, of, denials }: Rules,
  isOver: boolean,
  schemaFailed: OutsideAccess['schemaFailed'],
): Promise<Judged<Approval<unknown>>> {
  const counted: ApprovalAnswer<unknown>[] = [];
  for (const answer of firstOfEach(answers)) {
    const { content } = answer;
    const parsed =
      answer.approved && schema
        ? await parsedOrSkipped(
            parseContent(schema, isJsonObject(content) ? content : {}),
            schemaFailed,
          )
        : ({ ok: true, value: content } as const);
    if (parsed?.ok !== true) continue;
    const { approved } = answer;
    counted.push(toApprovalAnswer(answer, parsed.value));
    if (counted.filter((one) => one.approved === approved).length < (approved ? of : denials))
      continue;
    return {
      found: approved
        ? { approved, answers: counted }
        : { approved, reason: 'denied', answers: counted },
    };
  }
  if (isOver) return { found: { approved: false, reason: 'timeout', answers: counted } };
  return counted.length === 0 && answers.length > 0 ? { found: askAgain } : {};
}

/**
 * Returns the first event that the schema accepts, or else the events that it refused. An event at
 * which the schema throws is neither: corrected code may accept it.
 */
export async function firstEvent(
  answers: readonly OutsideAnswer[],
  schema: Schema,
  schemaFailed: OutsideAccess['schemaFailed'],
): Promise<Judged<ReceivedEvent>> {
  const refused: OutsideAnswer[] = [];
  for (const answer of answers) {
    const parsed = await parsedOrSkipped(validate(schema, answer.content), schemaFailed);
    if (parsed?.ok === true) return { found: toReceivedEvent(answer, parsed.value) };
    if (parsed !== undefined) refused.push(answer);
  }
  return { refused };
}

/**
 * Awaits a parsed answer. Returns undefined if the schema throws: an answer must not fail the saga.
 */
async function parsedOrSkipped(
  parsing: Promise<Validated<unknown>>,
  schemaFailed: OutsideAccess['schemaFailed'],
): Promise<Validated<unknown> | undefined> {
  return await parsing.catch((error: unknown) => {
    schemaFailed?.(error);
    return undefined;
  });
}

/** Answer of a person, as the journal records it. */
export function toApprovalAnswer<T>(
  answer: Pick<OutsideAnswer, 'by' | 'at' | 'shown' | 'approved'>,
  content: T,
): ApprovalAnswer<T> {
  return { ...toReceipt(answer), approved: answer.approved, content } as ApprovalAnswer<T>;
}

/** Event, as the journal records it. */
export function toReceivedEvent(
  answer: Pick<OutsideAnswer, 'by' | 'at' | 'shown'>,
  event: unknown,
): ReceivedEvent {
  return { ...toReceipt(answer), event };
}

function toReceipt({ by, at, shown }: Pick<OutsideAnswer, 'by' | 'at' | 'shown'>): Receipt {
  return { by, level: by === 'link' ? 'link' : 'user', at, shown };
}
