import type { OutsideAnswer, Receipt } from '../../model/outside.ts';
import { encode } from '../../values/codec.ts';
import { SagaLimitExceeded } from '../../values/errors.ts';
import { isJsonObject, type Json } from '../../values/json.ts';
import { parseContent } from '../../values/form-content.ts';
import { validate, type Schema, type Validated } from '../../values/standard-schema.ts';
import { firstOfEach } from './one-person.ts';
import { askAgain, type Judged, type Judging } from './wait-outside.ts';

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
  judging: Judging,
): Promise<Judged<Approval<unknown>>> {
  const counted: ApprovalAnswer<unknown>[] = [];
  for (const answer of firstOfEach(answers)) {
    const { content, approved } = answer;
    const parsed =
      approved && schema !== undefined
        ? await recordedOf(
            parseContent(schema, isJsonObject(content) ? content : {}),
            (value) => toApprovalAnswer(answer, value),
            judging,
          )
        : toApprovalAnswer(answer, content);
    if (parsed === 'refused' || parsed === 'failed') continue;
    counted.push(parsed);
    if (counted.filter((one) => one.approved === approved).length < (approved ? of : denials))
      continue;
    return {
      found: approved
        ? { approved, answers: counted }
        : { approved, reason: 'denied', answers: counted },
    };
  }
  if (judging.isOver) return { found: { approved: false, reason: 'timeout', answers: counted } };
  return counted.length === 0 && answers.length > 0 ? { found: askAgain } : {};
}

/**
 * Returns the first event that the schema accepts, or else the events that it refused. An event at
 * which the schema throws is neither: corrected code may accept it.
 */
export async function firstEvent(
  answers: readonly OutsideAnswer[],
  schema: Schema,
  judging: Judging,
): Promise<Judged<ReceivedEvent>> {
  const refused: OutsideAnswer[] = [];
  for (const answer of answers) {
    const parsed = await recordedOf(
      validate(schema, answer.content),
      (value) => toReceivedEvent(answer, value),
      judging,
    );
    if (typeof parsed === 'object') return { found: parsed };
    if (parsed === 'refused') refused.push(answer);
  }
  return { refused };
}

/**
 * Returns what the journal records of a parsed answer. `failed` if the schema throws: an answer must
 * not fail the saga. `refused` also for a value that the journal cannot hold, which stays so.
 */
async function recordedOf<T extends object>(
  parsing: Promise<Validated<unknown>>,
  toRecorded: (value: unknown) => T,
  { room, schemaFailed }: Judging,
): Promise<T | 'refused' | 'failed'> {
  const parsed = await parsing.catch((error: unknown) => {
    schemaFailed?.(error);
    return undefined;
  });
  if (parsed === undefined) return 'failed';
  if (!parsed.ok) return 'refused';
  const recorded = toRecorded(parsed.value);
  const problem = recordingProblem(recorded, room);
  if (problem === undefined) return recorded;
  schemaFailed?.(problem);
  return 'refused';
}

/** Returns the error of an answer that does not fit the journal. Undefined for one that fits. */
function recordingProblem(recorded: object, room: number): unknown {
  try {
    // The door has measured the answer as it was sent, and a schema may make it longer.
    if (recordedBytes(recorded) <= room) return undefined;
  } catch (error) {
    return error;
  }
  return new SagaLimitExceeded(
    `An answer from outside has more than ${room} bytes after its schema changed it, and does not count.`,
  );
}

/** Bytes of an answer in the journal, which writes some values longer than JSON does. */
export function recordedBytes(recorded: object): number {
  return new TextEncoder().encode(encode(recorded)).length;
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
