import type { OutsideUser } from '@mcp-saga/core';
import { isLargerThan, withoutSharedTickets } from '@mcp-saga/core/program';
import { limitedText } from './posted-body.ts';
import type { HostParts, OutsideAccess } from '../settings/host-parts.ts';
import { readForm } from './posted-form.ts';
import { renderFields, type FieldErrors, type Posted } from './html-form-fields.ts';
import { html, noticeResponse, notNow, notYours, pageResponse, type Html } from './page.ts';
import { isCaller } from './tickets/answerer.ts';
import { putAnswer, readBox, slotOf, type ReadBox } from './tickets/stored-answers.ts';
import { digestShown, type OpenTicket } from './tickets/ticket.ts';

/** Bytes of a posted form. */
const maxFormBytes = 64 * 1024;

/** Request of an answer page, with an opened ticket. */
export interface AnswerPageRequest {
  readonly host: HostParts;
  readonly outside: OutsideAccess;
  readonly ticket: OpenTicket;
  readonly request: Request;
  /** Authenticated user, if any. */
  readonly user: OutsideUser | undefined;
}

/**
 * Serves the page of a ticket. GET and HEAD never answer: chat tools and virus scanners open links.
 */
export async function answerPage(page: AnswerPageRequest): Promise<Response> {
  const { host, outside, ticket, request, user } = page;
  if (!['GET', 'HEAD', 'POST'].includes(request.method)) return notAllowed();
  if (user === undefined && !ticket.acceptsLink)
    return noticeResponse(
      401,
      'Sign in to answer',
      'Only authenticated users may answer this request.',
    );
  if (user !== undefined && !(await mayAnswer(page, user))) return notYours();
  const by: OutsideUser | 'link' = user ?? 'link';
  const { level, recipient, box: id } = ticket;
  const mine = { by, level, recipient, slot: await slotOf(ticket, { by, level, recipient }) };
  const state = async (): Promise<SettledPage | undefined> =>
    settledPage(ticket, await readBox(host, outside, { ...ticket, id }), mine, host.timing.clock());
  const settled = await state();
  if (request.method !== 'POST') return settled?.(200) ?? formPage(page);
  if (!isOwnPage(request, outside))
    return noticeResponse(403, 'Not sent from this page', 'Open the link again.');
  if (settled !== undefined) return settled(409);
  const posted = await readPosted(request);
  const form = posted && readForm(ticket.form, posted);
  // The saga could not record a longer answer in its token.
  if (form === undefined || isLargerThan(host.limits.maxTokenBytes / 4, form.content))
    return noticeResponse(413, 'Too much text', 'Shorten your answer, and send it again.');
  const { content, errors } = form;
  const decision = posted?.get('decision')?.[0];
  if (decision !== 'approve' && decision !== 'deny')
    return noticeResponse(400, 'No decision', 'Open the link again, and choose a button.');
  // Denials need no form.
  if (decision === 'approve' && errors.size > 0) return formPage(page, posted, errors);
  const at = host.timing.clock();
  const approved = decision === 'approve';
  const shown = await digestShown(ticket);
  const stored = await putAnswer(host, outside, ticket, { by, at, approved, content, shown });
  const isNew = stored === 'stored';
  // Another request may have been faster, and another process may have keys that this one has not.
  if (isNew && !ticket.acceptsLink) return recordedPage(200, ticket, { approved, at });
  return (await state())?.(isNew ? 200 : 409) ?? noticeResponse(...notNow);
}

async function mayAnswer(
  { outside, ticket }: Pick<AnswerPageRequest, 'outside' | 'ticket'>,
  user: OutsideUser,
): Promise<boolean> {
  const { caller, by, claims, sagaId } = ticket;
  if (caller !== undefined && (await isCaller(caller, user))) return false;
  if (outside.mayAnswer === undefined) return by === null || ticket.acceptsLink;
  // Without types, it may return any value.
  const may: unknown = await outside.mayAnswer(user, by, { saga: claims.saga.name, sagaId });
  return may === true;
}

/**
 * `true` for a form of this page. With `no-referrer`, browsers send `Origin: null` for their own
 * forms, too, and say by `Sec-Fetch-Site` where a request comes from. Clients that are not browsers
 * send neither.
 */
function isOwnPage({ headers }: Request, { url }: Pick<OutsideAccess, 'url'>): boolean {
  const origin = headers.get('origin');
  const site = headers.get('sec-fetch-site');
  if (origin !== null && origin !== 'null') return origin === new URL(url()).origin;
  return site === 'same-origin' || (site === null && origin === null);
}

async function readPosted(request: Request): Promise<Posted | undefined> {
  const text = await limitedText(request, maxFormBytes);
  if (text === undefined) return undefined;
  const posted = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    // As browsers write line ends in forms.
    const values = posted.get(name) ?? [];
    values.push(value.replaceAll('\r\n', '\n'));
    posted.set(name, values);
  }
  return posted;
}

/** Page that says what was recorded, by the status of a request that would have been good. */
type SettledPage = (status: 200 | 409) => Response;

const gone =
  (title: string, text: string): SettledPage =>
  (status) =>
    noticeResponse(status === 200 ? 410 : status, title, text);

/** Returns the page of a ticket that can no longer be answered. */
function settledPage(
  ticket: OpenTicket,
  { answers, isClosed }: ReadBox,
  mine: Pick<ReadBox['answers'][number], 'by' | 'level' | 'recipient' | 'slot'>,
  now: number,
): SettledPage | undefined {
  const own = answers.find(({ slot }) => slot === mine.slot);
  if (!withoutSharedTickets([...answers, own ?? mine]).includes(own ?? mine))
    return gone(
      'Used',
      'Someone has already answered with this link. Your answer was not recorded.',
    );
  if (own !== undefined) return (status) => recordedPage(status, ticket, own);
  if (isClosed)
    return gone('Closed', 'This request needs no more answers. Your answer was not recorded.');
  if (now >= ticket.claims.exp)
    return () =>
      noticeResponse(410, 'Too late', 'The time to answer is over. Your answer was not recorded.');
  return undefined;
}

function recordedPage(
  status: number,
  ticket: OpenTicket,
  { approved, at }: { readonly approved: boolean; readonly at: number },
): Response {
  const time = new Date(at).toISOString();
  return pageResponse(
    status,
    approved ? 'You approved' : 'You denied',
    html`${messageOf(ticket)}
      <p class="note">
        Your answer was recorded on
        <time datetime="${time}">${time.slice(0, 16).replace('T', ' ')} UTC</time>.
      </p>`,
    approved ? 'approved' : 'denied',
  );
}

function formPage(
  { ticket, request }: AnswerPageRequest,
  posted?: Posted,
  errors?: FieldErrors,
): Response {
  // A link with `?decision=` leads to a page with one button.
  const only = new URL(request.url).searchParams.get('decision');
  const approve = html`<button class="main" name="decision" value="approve">Approve</button>`;
  const deny = html`<button name="decision" value="deny" formnovalidate>Deny</button>`;
  const buttons = only === 'approve' ? approve : only === 'deny' ? deny : html`${approve}${deny}`;
  const problems =
    errors &&
    html`<div class="problems" role="alert"><p>Your answer was not recorded. Correct the marked fields.</p></div>`;
  return pageResponse(
    errors === undefined ? 200 : 422,
    'Your decision is needed',
    html`${problems}${messageOf(ticket)}
      <form method="post">
        ${renderFields(ticket.form, posted, errors)}
        <div class="buttons">${buttons}</div>
      </form>`,
  );
}

function messageOf({ message }: OpenTicket): Html {
  return html`<p class="message">${message}</p>`;
}

function notAllowed(): Response {
  const response = noticeResponse(405, 'Not allowed', 'Open the link in a browser.');
  response.headers.set('allow', 'GET, HEAD, POST');
  return response;
}
