import type { Awaitable, Json } from '@mcp-saga/core';
import { present, type CloseReason, type OutsideAnswer, sealedBytes } from '@mcp-saga/core/program';
import { digestText, TokenRefused, canonicalize, type Claims } from '@mcp-saga/seal';
import type { PutResult, StoredAnswer } from '../../model/mailbox-types.ts';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { atAnyTime, readSealedRecord, endOfLife } from '../../token/sealed-saga.ts';
import { SagaHostError } from '../../wire/errors.ts';
import { isUser, type OpenTicket } from './ticket.ts';

/** Box of a mailbox, with the facts that its answers are sealed for. */
export interface Box {
  readonly id: string;
  readonly salt: string;
  readonly sagaId: string;
}

/** Answer as sealed. */
interface SealedAnswer extends OutsideAnswer {
  /** Digest of an event, which is its slot. */
  readonly event?: string;
}

/** Answer to store. */
export type NewAnswer = Omit<OutsideAnswer, 'recipient'> & {
  /** Digest of the body of an event. */
  readonly event?: string;
};

// Users: more people than any approval needs. Events: several, since those that do not fit the
// schema are skipped.
const mostAnswers = { approval: 256, event: 64 } as const;

/** Bytes of all answers in a box. A row of D1, and an entry of a Durable Object, hold 2 MB. */
export const mostBoxBytes = 1_500_000;

/** Characters of a sealed answer besides its content: claims, names, and the slot. */
const sealedOverhead = 2048;

/** Greatest number of answers in the box of a ticket, so that they fit into one row of a database. */
export function maxAnswersOf({ kind, room }: Pick<OpenTicket, 'kind' | 'room'>): number {
  const most = Math.floor(mostBoxBytes / (sealedBytes(room) + sealedOverhead));
  return Math.max(1, Math.min(mostAnswers[kind], most));
}

/**
 * Time at which a mailbox may forget the boxes of a saga (ms since the epoch): a day after the
 * saga.
 */
export function forgottenAt({ limits }: HostParts, claims: Claims): number {
  return Math.max(endOfLife(limits, claims), claims.exp) + 24 * 60 * 60 * 1000;
}

/** Slot of an answer: a digest with the secret of the box. */
export async function slotOf(
  { salt }: Pick<Box, 'salt'>,
  answer: Pick<OutsideAnswer, 'by' | 'recipient'> & { readonly event?: string },
): Promise<string> {
  const { by, recipient, event } = answer;
  const who: Json =
    event !== undefined
      ? ['event', event]
      : by === 'link'
        ? ['link', recipient]
        : ['user', by.issuer ?? null, by.subject];
  return (await digestText(canonicalize([salt, who]))).slice(0, 22);
}

/** Stores an answer of a ticket, and wakes the saga. Throws `store_down`. */
export async function putAnswer(
  host: HostParts,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  ticket: OpenTicket,
  answer: NewAnswer,
): Promise<PutResult> {
  const { box, salt, sagaId, claims, recipient } = ticket;
  const { by, at, approved, content, shown, event } = answer;
  const slot = await slotOf({ salt }, { by, recipient, ...present({ event }) });
  const sealed: SealedAnswer = {
    by: by === 'link' ? by : { subject: by.subject, ...present({ issuer: by.issuer }) },
    at,
    approved,
    content,
    shown,
    recipient,
    ...present({ event }),
  };
  const text = await host.keys.responses.seal('answer', sagaId, { ...claims, iat: at }, [
    { bytes: JSON.stringify(sealed), compress: false },
  ]);
  const bounds = { expiresAt: forgottenAt(host, claims), maxAnswers: maxAnswersOf(ticket) };
  const result = await askMailbox(host, () => mailbox.put(box, slot, text, bounds));
  // A saga that reads its box removes what it does not wait for: a wake may have been lost.
  if (result === 'stored' || result === 'full') await host.guard?.queue?.wake(sagaId);
  return result;
}

/** Answer in a box, opened. */
export type BoxedAnswer = OutsideAnswer & StoredAnswer;

/** Content of a box. */
export interface ReadBox {
  readonly answers: readonly BoxedAnswer[];
  readonly isClosed: boolean;
}

/** Removes answers from a box. Throws `store_down`. */
export async function removeAnswers(
  host: Pick<HostParts, 'observer'>,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  box: string,
  answers: readonly StoredAnswer[],
): Promise<void> {
  await askMailbox(host, () =>
    mailbox.remove(
      box,
      answers.map(({ slot, sealed }) => ({ slot, sealed })),
    ),
  );
}

/**
 * `true` if a box has an answer in a slot, whatever it contains. Opens none of the answers, which
 * takes long for many large ones. Throws `store_down`.
 */
export async function hasAnswer(
  host: Pick<HostParts, 'observer'>,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  box: string,
  slot: string,
): Promise<boolean> {
  const { answers } = await askMailbox(host, () => mailbox.list(box));
  return answers.some((answer) => answer.slot === slot);
}

/**
 * Reads a box. Answers that were altered, moved from another box or slot, or repeated, count for
 * nothing: the store need not be trusted. Throws `store_down`.
 */
export async function readBox(
  host: Pick<HostParts, 'keys' | 'observer'>,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  box: Box,
): Promise<ReadBox> {
  const { answers, isClosed } = await askMailbox(host, async () => {
    const { answers: all, ...others } = await mailbox.list(box.id);
    // A reply of another form is a failure of the mailbox, and is reported.
    return { ...others, answers: all.map(({ slot, sealed }) => ({ slot, sealed })) };
  });
  const slots = new Set<string>();
  const read: BoxedAnswer[] = [];
  for (const { slot, sealed } of answers) {
    const answer = await openAnswer(host, box, slot, sealed);
    if (answer === undefined || slots.has(slot)) {
      host.observer.reject('answer');
      continue;
    }
    slots.add(slot);
    read.push({ ...answer, slot, sealed });
  }
  return { answers: read, isClosed };
}

async function openAnswer(
  { keys }: Pick<HostParts, 'keys'>,
  box: Box,
  slot: string,
  sealed: string,
): Promise<OutsideAnswer | undefined> {
  try {
    const expect = { purpose: 'answer', sid: box.sagaId, ...atAnyTime } as const;
    const { streams } = await keys.responses.open(sealed, expect);
    const { event, ...answer } = readSealedRecord<SealedAnswer>(streams[0], {
      by: (value) => value === 'link' || isUser(value),
      at: 'number',
      approved: 'boolean',
      content: 'json',
      shown: 'string',
      recipient: 'number',
      event: 'string?',
    });
    // Derived from the secret of the box: an answer of another box has another slot.
    const own = await slotOf(box, { ...answer, ...present({ event }) });
    return own === slot ? answer : undefined;
  } catch (error) {
    if (error instanceof TokenRefused) return undefined;
    throw error;
  }
}

/** Closes a box, and notes why if no answer in it counts. Throws `store_down`. */
export async function closeBox(
  host: HostParts,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  { id, salt }: Pick<Box, 'id' | 'salt'>,
  claims: Claims,
  why: CloseReason,
): Promise<void> {
  const expiresAt = forgottenAt(host, claims);
  await askMailbox(host, () => mailbox.close(id, expiresAt));
  // A saga that ends long after its life has no open link that a note could explain.
  if (why === 'decided' || expiresAt <= host.timing.clock()) return;
  const note = await noteOf(salt);
  // The first reason stays: a withdrawn saga does not change what an outdated link was.
  await askMailbox(host, () => mailbox.put(note, why, '', { expiresAt, maxAnswers: 1 }));
}

/**
 * Reason why a closed box counts no answers. Undefined: the saga has decided. Throws `store_down`.
 */
export async function whyClosed(
  host: Pick<HostParts, 'observer'>,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  { salt }: Pick<Box, 'salt'>,
): Promise<Exclude<CloseReason, 'decided'> | undefined> {
  const note = await noteOf(salt);
  const { answers } = await askMailbox(host, () => mailbox.list(note));
  const why = answers[0]?.slot;
  return why === 'outdated' || why === 'withdrawn' ? why : undefined;
}

/**
 * Box for the reason why a box was closed. A closed box takes no entry, and the reason is known only
 * after the last answers in it were read.
 */
async function noteOf(salt: string): Promise<string> {
  return (await digestText(canonicalize([salt, 'why closed']))).slice(0, 22);
}

/** Asks the mailbox. A failure is reported. Throws `store_down`. */
export async function askMailbox<T>(
  { observer }: Pick<HostParts, 'observer'>,
  ask: () => Awaitable<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    observer.hooks.onError(error);
    throw new SagaHostError('store_down', 'The mailbox cannot be reached. Try again later.', {
      cause: error,
    });
  }
}
