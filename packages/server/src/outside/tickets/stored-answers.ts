/**
 * Tickets of links, and the answers to them, in a store that need not be trusted.
 *
 * Each question has a box: the list of a group whose ID is derived from the secret of the saga and
 * from the question. An answer is named by its slot, a digest of the secret of the box and of who
 * answers, so that each person or event counts once. Tickets (`ticket.ts`, `link.ts`) are entries.
 *
 * - An answer is sealed for its saga and slot. One that was altered, moved, or repeated counts
 *   for nothing.
 * - The first answer in a slot stays, and a closed box takes none.
 * - Boxes and tickets live for a day longer than the saga.
 */
import type { Awaitable, Json } from '@mcp-saga/core';
import { present, type CloseReason, type OutsideAnswer, sealedBytes } from '@mcp-saga/core/program';
import { digestText, TokenRefused, canonicalize, type Claims } from '@mcp-saga/seal';
import type { Appended, EntryKey, ListedValue } from '../../model/saga-store.ts';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { atAnyTime, readSealedRecord, endOfLife } from '../../token/sealed-saga.ts';
import { SagaHostError } from '../../wire/errors.ts';
import { isUser, type OpenTicket } from './ticket.ts';

/**
 * Box of answers, with the facts that they are sealed for: the list of a group, whose values are
 * named by their slots.
 */
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
 * Time at which a store may forget the boxes of a saga (ms since the epoch): a day after the saga.
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
  { store }: OutsideAccess,
  ticket: OpenTicket,
  answer: NewAnswer,
): Promise<Appended> {
  const { box, salt, sagaId, claims, recipient, payer } = ticket;
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
  const bounds = {
    expiresAtMs: forgottenAt(host, claims),
    maxValues: maxAnswersOf(ticket),
    chargeTo: payer,
  };
  const key = { group: box, name: slot };
  const result = await askStore(host, () => store.append(key, text, bounds));
  // A saga that reads its box removes what it does not wait for: a wake may have been lost.
  if (result === 'added' || result === 'full') await host.guard?.queue?.wake(sagaId);
  return result;
}

/** Answer in a box, opened. */
export type BoxedAnswer = OutsideAnswer & { readonly stored: ListedValue };

/** Content of a box. */
export interface ReadBox {
  readonly answers: readonly BoxedAnswer[];
  readonly isClosed: boolean;
}

/** Removes answers from a box. Throws `store_down`. */
export async function removeAnswers(
  host: Pick<HostParts, 'observer'>,
  { store }: OutsideAccess,
  box: string,
  answers: readonly BoxedAnswer[],
): Promise<void> {
  await askStore(host, () =>
    store.discard(
      box,
      answers.map(({ stored }) => stored),
    ),
  );
}

/**
 * `true` if a box has an answer in a slot, whatever it contains. Opens none of the answers, which
 * takes long for many large ones. Throws `store_down`.
 */
export async function hasAnswer(
  host: Pick<HostParts, 'observer'>,
  { store }: OutsideAccess,
  box: string,
  slot: string,
): Promise<boolean> {
  const { values } = await askStore(host, () => store.list(box));
  return values.some(({ name }) => name === slot);
}

/**
 * Reads a box. Answers that were altered, moved from another box or slot, or repeated, count for
 * nothing: the store need not be trusted. Throws `store_down`.
 */
export async function readBox(
  host: Pick<HostParts, 'keys' | 'observer'>,
  { store }: OutsideAccess,
  box: Box,
): Promise<ReadBox> {
  const { values, isClosed } = await askStore(host, async () => {
    const { values: all, ...others } = await store.list(box.id);
    // A reply of another form is a failure of the store, and is reported.
    return { ...others, values: all.map(({ name, value }) => ({ name, value })) };
  });
  const slots = new Set<string>();
  const read: BoxedAnswer[] = [];
  for (const stored of values) {
    const slot = stored.name;
    const answer = await openAnswer(host, box, slot, stored.value);
    if (answer === undefined || slots.has(slot)) {
      host.observer.reject('answer');
      continue;
    }
    slots.add(slot);
    read.push({ ...answer, stored });
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
  { store }: OutsideAccess,
  { id, salt }: Pick<Box, 'id' | 'salt'>,
  claims: Claims,
  why: CloseReason,
): Promise<void> {
  const expiresAtMs = forgottenAt(host, claims);
  await askStore(host, () => store.close(id, expiresAtMs));
  // A saga that ends long after its life has no open link that a reason could explain.
  if (why === 'decided' || expiresAtMs <= host.timing.clock()) return;
  // The first reason stays: a withdrawn saga does not change what an outdated link was.
  const key = await reasonKey(salt);
  await askStore(host, () => store.write(key, { head: why }, 0, { expiresAtMs }));
}

/**
 * Reason why a closed box counts no answers. Undefined: the saga has decided. Throws `store_down`.
 */
export async function whyClosed(
  host: Pick<HostParts, 'observer'>,
  { store }: OutsideAccess,
  { salt }: Pick<Box, 'salt'>,
): Promise<Exclude<CloseReason, 'decided'> | undefined> {
  const key = await reasonKey(salt);
  const reason = await askStore(host, () => store.read(key));
  const why = reason?.head;
  return why === 'outdated' || why === 'withdrawn' ? why : undefined;
}

/**
 * Entry for the reason why a box was closed, which is known only after the last answers in it were
 * read. Its group is derived from the secret of the box, so that the store cannot tell of which
 * box.
 */
async function reasonKey(salt: string): Promise<EntryKey> {
  const group = (await digestText(canonicalize([salt, 'why closed']))).slice(0, 22);
  return { group, name: 'why closed' };
}

/** Asks the store. A failure is reported. Throws `store_down`. */
export async function askStore<T>(
  { observer }: Pick<HostParts, 'observer'>,
  ask: () => Awaitable<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    observer.hooks.onError(error);
    throw new SagaHostError('store_down', 'The store cannot be reached. Try again later.', {
      cause: error,
    });
  }
}
