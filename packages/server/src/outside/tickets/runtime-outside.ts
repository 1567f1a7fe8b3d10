import {
  AuthoringError,
  errorLink,
  present,
  type OutsideQuestion,
  type RuntimeOutside,
} from '@mcp-saga/core/program';
import { canonicalize, deriveFromSecret, toBase64Url } from '@mcp-saga/seal';
import type { SealedSaga } from '../../model/sealed-saga.ts';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { chargeFor } from '../../token/charge-for.ts';
import { endOfLife } from '../../token/sealed-saga.ts';
import { digestUser, toUser } from './answerer.ts';
import { storeTicket } from './link.ts';
import { closeBox, readBox, removeAnswers, type BoxedAnswer } from './stored-answers.ts';
import { sealTicket, ticketClaims } from './ticket.ts';

// Bytes of a box and of its salt.
const idBytes = 16;

/** Tickets and answers of a saga, for its turns. */
export function runtimeOutside(
  host: HostParts,
  outside: OutsideAccess,
  saga: SealedSaga,
): RuntimeOutside {
  const { sagaId, claims, state } = saga;
  const derive = async (label: string, parts: readonly string[]): Promise<string> => {
    const bytes = await deriveFromSecret(state.secret, label, parts);
    return toBase64Url(bytes.subarray(0, idBytes));
  };
  const boxOf = (question: OutsideQuestion): Promise<string> =>
    derive('box', [String(state.generation), canonicalize(present({ ...question }))]);
  const saltOf = (box: string): Promise<string> => derive('slots', [box]);
  return {
    box: boxOf,
    ticket: async (question, facts) => {
      const { level, recipient, room, began, deadline, needsQueue, isLastAttempt } = facts;
      const { kind, path, message, form, acceptsLink, verify } = question;
      if (needsQueue) adviseOnQueue(host, outside, claims.saga.name, path);
      const by = question.by[level] ?? null;
      if (kind === 'approval' && by !== null && !acceptsLink && outside.mayAnswer === undefined) {
        throw new AuthoringError(
          `approval('${path}') has \`by\`, which needs the option auth.mayAnswer of the host: (user, by) => boolean.`,
          { anchor: 'missing_option' },
        );
      }
      if (verify !== undefined && !Object.hasOwn(outside.webhooks, verify)) {
        throw new AuthoringError(
          `waitFor('${path}') has verify: '${verify}', which the option webhooks of the host does not have.`,
          { anchor: 'missing_option' },
        );
      }
      const box = await boxOf(question);
      const asker = toUser(claims.principal);
      const caller =
        question.allowsCaller || asker === undefined ? undefined : await digestUser(asker);
      const expiresAt = Math.min(deadline, endOfLife(host.limits, claims));
      const payer = await chargeFor(host, claims);
      const ticket = {
        kind,
        box,
        salt: await saltOf(box),
        recipient,
        room,
        message,
        form,
        by,
        acceptsLink,
        ...present({ caller, verify, payer: payer?.to }),
        ...(kind === 'approval' ? { asker: asker?.subject ?? '' } : {}),
      };
      const ticketed = ticketClaims(claims, began, expiresAt);
      const sealedAs = (name: string | undefined): Promise<string> =>
        sealTicket(host, sagaId, ticketed, ticket, name);
      // Equal tickets have one name, so that a repeated delivery sends the same link.
      const name = await derive('link', [canonicalize({ ...ticket, began, expiresAt })]);
      const stored = storeTicket(host, outside, name, await sealedAs(name), {
        claims,
        charge: payer,
      });
      // While the store is down, an attempt fails and is repeated: its link would differ from that of
      // an earlier attempt whose reply was lost. At last, the link holds its ticket, and so it does
      // while the store is full for the principal.
      const isStored = await (isLastAttempt ? stored.catch(() => false) : stored);
      const text = isStored ? name : await sealedAs(undefined);
      return `${outside.url()}/saga/${kind === 'approval' ? 'answer' : 'event'}/${text}`;
    },
    answers: async (box) => {
      const { answers } = await readBox(host, outside, {
        id: box,
        salt: await saltOf(box),
        sagaId,
      });
      return answers;
    },
    // The answers are those that `answers` has read, with their slots.
    discard: (box, answers) => removeAnswers(host, outside, box, answers as readonly BoxedAnswer[]),
    // Changed code takes boxes from the journal, where another step may look like a delivery.
    close: async (box, why) => {
      if (!/^[\w-]{22}$/.test(box)) return;
      await closeBox(host, outside, { id: box, salt: await saltOf(box) }, claims, why);
    },
  };
}

/** Names of the sagas that a host has warned of. */
const advised = new WeakMap<OutsideAccess, Set<string>>();

/**
 * Warns of reminders that wait for the client. The code of a body is opaque, so the first such step
 * is the first sign of it.
 */
function adviseOnQueue(
  { observer, guard }: HostParts,
  outside: OutsideAccess,
  name: string,
  path: string,
): void {
  const known = advised.get(outside) ?? new Set();
  advised.set(outside, known);
  if (guard?.queue !== undefined || known.has(name)) return;
  known.add(name);
  observer.hooks.onWarning(
    `Saga '${name}' waits with reminders or escalations ('${path}'), but the host has no queue, so they are sent only when the client ` +
      `calls. Set the option \`queue\`. See ${errorLink('missing_option')}`,
  );
}
