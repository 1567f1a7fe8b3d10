import { noteAnswer } from '../dialects/tasks/task-record.ts';
import type { Json } from '@mcp-saga/core';
import { assertJson, recordedBytes, toReceivedEvent } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import { digestText } from '@mcp-saga/seal';
import type { HostParts, OutsideAccess } from '../settings/host-parts.ts';
import { limitedText, postedFields } from './posted-body.ts';
import { plainHeaders } from './page.ts';
import { hasAnswer, putAnswer, slotOf } from './tickets/stored-answers.ts';
import { digestShown, type OpenTicket } from './tickets/ticket.ts';

/** Bytes of a body with an event of a number of bytes: JSON may have spaces and escapes. */
function maxBodyBytes(room: number): number {
  return 4 * room + 4096;
}

/**
 * Takes an event of another system. A repeated event gets the same response, and is stored once.
 */
export async function receiveEvent(
  host: HostParts,
  outside: OutsideAccess,
  ticket: OpenTicket,
  request: Request,
): Promise<Response> {
  if (request.method !== 'POST')
    return eventResponse(405, 'Send events with POST.', { allow: 'POST' });
  const text = await limitedText(request, maxBodyBytes(ticket.room));
  if (text === undefined) return tooLarge();
  if (!(await isAuthentic(host, outside, ticket, request, text)))
    return eventResponse(401, 'The event is not authentic.');
  const content = toContent(request, text);
  if (content === undefined) return eventResponse(400, 'The event is not JSON.');
  const event = await digestText(text);
  const { recipient } = ticket;
  const at = host.timing.clock();
  const shown = await digestShown(ticket);
  const answer = { by: 'link', at, approved: true, content, shown, event } as const;
  // The saga has no room for a larger event in its token, and would fail after this one was received.
  if (recordedBytes(toReceivedEvent(answer, content)) > ticket.room) return tooLarge();
  const slot = await slotOf(ticket, { by: 'link', recipient, event });
  // The store knows the event by its slot. To read the box would open all events in it.
  const result =
    at < ticket.claims.exp
      ? await putAnswer(host, outside, ticket, answer)
      : (await hasAnswer(host, outside, ticket.box, slot))
        ? 'taken'
        : 'closed';
  if (result === 'added') await noteAnswer(host, ticket.sagaId).catch(host.observer.hooks.onError);
  const [status, said] = replies[result];
  return eventResponse(status, said);
}

function tooLarge(): Response {
  return eventResponse(
    413,
    'The event is too large: the saga that waits for it has no room for it.',
  );
}

const replies = {
  added: [202, 'The event was received.'],
  taken: [200, 'The event was received before.'],
  closed: [410, 'No event is expected any more.'],
  full: [429, 'Too many events.'],
} as const;

async function isAuthentic(
  { observer, services }: HostParts,
  { webhooks }: OutsideAccess,
  { verify, acceptsLink }: OpenTicket,
  { url, headers }: Request,
  body: string,
): Promise<boolean> {
  if (verify === undefined) return acceptsLink;
  // Senders do not retry after a 401. So whatever keeps this host from checking an event is thrown,
  // and only a check that ran can refuse the event.
  const check = Object.hasOwn(webhooks, verify) ? webhooks[verify] : undefined;
  if (check === undefined) {
    const problem = `The option webhooks of the host has no check '${verify}', which a webhook needs.`;
    throw optionError(problem, { code: 'missing_option' });
  }
  const given = { services: await services() };
  const posted = new Request(url, { method: 'POST', headers, body });
  try {
    const isGood: unknown = await check(posted, given);
    return isGood === true;
  } catch (error) {
    // Libraries throw for a bad signature.
    observer.hooks.onError(error);
    return false;
  }
}

/** Fields of a form. A field that is sent more than once has a list of all its values. */
function fieldsOf(text: string): object {
  return Object.fromEntries(
    Array.from(postedFields(text), ([name, values]) => [
      name,
      values.length === 1 ? values[0] : values,
    ]),
  );
}

/** Reads JSON, or the fields of a form. Returns undefined for other text. */
function toContent({ headers }: Request, text: string): Json | undefined {
  try {
    const isForm =
      headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true;
    const content: unknown = isForm ? fieldsOf(text) : JSON.parse(text);
    // The journal has 64 levels at most, and records the event inside its receipt.
    assertJson(content, { where: 'event', maxDepth: 60 });
    return content;
  } catch {
    return undefined;
  }
}

/** Makes the response to an event. */
export function eventResponse(
  status: number,
  text: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { ...plainHeaders, 'content-type': 'text/plain; charset=utf-8', ...headers },
  });
}
