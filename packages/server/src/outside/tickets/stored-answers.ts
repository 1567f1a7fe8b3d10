import type { Awaitable, Json, OutsideUser } from '@mcp-saga/core';
import { present, type OutsideAnswer } from '@mcp-saga/core/program';
import { digestText, TokenRefused, canonicalize, type Claims } from '@mcp-saga/seal';
import type { PutResult } from '../../model/mailbox-types.ts';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { atAnyTime, readSealedJson, endOfLife } from '../../token/sealed-saga.ts';
import { SagaHostError } from '../../wire/errors.ts';
import type { OpenTicket } from './ticket.ts';

/** Box of a mailbox, with the facts that its answers are sealed for. */
export interface Box {
  readonly id: string;
  readonly salt: string;
  readonly sagaId: string;
}

/** Members of an answer as sealed. */
interface SealedAnswer {
  readonly u: readonly [issuer: string | null, subject: string] | 0;
  readonly t: number;
  readonly a: 0 | 1;
  readonly c: Json;
  readonly d: string;
  readonly n: readonly [level: number, recipient: number];
  /** Digest of an event, which is its slot. */
  readonly e?: string;
}

/** Answer to store. */
export type NewAnswer = Omit<OutsideAnswer, 'level' | 'recipient'> & {
  /** Digest of the body of an event. */
  readonly event?: string;
};

// Users: more people than any approval needs. Events: several, since those that do not fit the
// schema are skipped.
const mostAnswers = { approval: 256, event: 64 } as const;

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
  answer: Pick<OutsideAnswer, 'by' | 'level' | 'recipient'> & { readonly event?: string },
): Promise<string> {
  const { by, level, recipient, event } = answer;
  const who: Json =
    event !== undefined
      ? ['event', event]
      : by === 'link'
        ? ['link', level, recipient]
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
  const { box, salt, sagaId, claims, level, recipient, kind } = ticket;
  const { by, at, approved, content, shown, event } = answer;
  const slot = await slotOf({ salt }, { by, level, recipient, ...present({ event }) });
  const sealed: SealedAnswer = {
    u: by === 'link' ? 0 : [by.issuer ?? null, by.subject],
    t: at,
    a: approved ? 1 : 0,
    c: content,
    d: shown,
    n: [level, recipient],
    ...present({ e: event }),
  };
  const text = await host.keys.responses.seal('answer', sagaId, { ...claims, iat: at }, [
    { bytes: JSON.stringify(sealed), compress: false },
  ]);
  const bounds = { expiresAt: forgottenAt(host, claims), maxAnswers: mostAnswers[kind] };
  const result = await askMailbox(host, () => mailbox.put(box, slot, text, bounds));
  if (result === 'stored') await host.guard?.queue?.wake(sagaId);
  return result;
}

/** Content of a box. */
export interface ReadBox {
  readonly answers: readonly (OutsideAnswer & { readonly slot: string })[];
  readonly isClosed: boolean;
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
  const read: (OutsideAnswer & { readonly slot: string })[] = [];
  for (const { slot, sealed } of answers) {
    const answer = await openAnswer(host, box, slot, sealed);
    if (answer === undefined || slots.has(slot)) {
      host.observer.reject('answer');
      continue;
    }
    slots.add(slot);
    read.push({ ...answer, slot });
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
    const { u, t, a, c, d, n, e } = readSealedJson(streams[0]) as SealedAnswer;
    const by: OutsideUser | 'link' =
      u === 0 ? 'link' : { subject: u[1], ...present({ issuer: u[0] ?? undefined }) };
    const answer = {
      by,
      at: t,
      approved: a === 1,
      content: c,
      shown: d,
      level: n[0],
      recipient: n[1],
    };
    // Derived from the secret of the box: an answer of another box has another slot.
    const own = await slotOf(box, { ...answer, ...present({ event: e }) });
    return own === slot ? answer : undefined;
  } catch (error) {
    if (error instanceof TokenRefused) return undefined;
    throw error;
  }
}

/** Closes a box. Throws `store_down`. */
export async function closeBox(
  host: HostParts,
  { mailbox }: Pick<OutsideAccess, 'mailbox'>,
  box: string,
  claims: Claims,
): Promise<void> {
  await askMailbox(host, () => mailbox.close(box, forgottenAt(host, claims)));
}

async function askMailbox<T>(
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
