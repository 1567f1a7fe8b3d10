import { noteAnswer } from '../dialects/tasks/task-record.ts';
import type { AnsweringUser } from '../model/host-options.ts';
import type { OutsideUser, RequestUser } from '@mcp-saga/core';
import {
  firstOfEach,
  isRecord,
  isSameUser,
  mayBeOnePerson,
  recordedBytes,
  toApprovalAnswer,
  type OutsideAnswer,
} from '@mcp-saga/core/program';
import type { PageWords } from '../model/page-words.ts';
import type { PageSettings } from '../settings/page-settings.ts';
import { limitedText, postedFields } from './posted-body.ts';
import type { HostParts, OutsideAccess } from '../settings/host-parts.ts';
import { readForm, type FormContent } from './posted-form.ts';
import { renderFields, renderHidden, type FieldErrors, type Posted } from './html-form-fields.ts';
import { renderValues } from './html-values.ts';
import {
  fill,
  html,
  noticeResponse,
  notYours,
  ofData,
  pageResponse,
  type Html,
  type Notice,
} from './page.ts';
import { digestUser } from './tickets/answerer.ts';
import { putAnswer, readBox, whyClosed } from './tickets/stored-answers.ts';
import { digestShown, type OpenTicket } from './tickets/ticket.ts';

/** Bytes of a posted form with a content of a number of bytes: each may be escaped, as `%0A`. */
function maxFormBytes(room: number): number {
  return 3 * room + 4096;
}

/** Request of an answer page, with an opened ticket. */
export interface AnswerPageRequest {
  readonly host: HostParts;
  readonly outside: OutsideAccess;
  readonly ticket: OpenTicket;
  readonly request: Request;
  /** Authenticated user, if any. */
  readonly user: OutsideUser | undefined;
  /** Result of `auth.authenticate` for the user. */
  readonly authenticated: RequestUser;
}

/**
 * Serves the page of a ticket. GET and HEAD never answer: chat tools and virus scanners open links.
 *
 * A person answers in two steps. The page with the form posts `review`, and gets a page that shows
 * all values; its button posts `decision`, which is what records an answer. A program posts
 * `decision` at once.
 */
export async function answerPage(page: AnswerPageRequest): Promise<Response> {
  const { host, outside, ticket, request, user } = page;
  const { words, name } = outside.page;
  const notice = (status: number, kind: Notice, text?: Html): Response =>
    noticeResponse(outside.page, status, kind, text);
  if (!['GET', 'HEAD', 'POST'].includes(request.method)) {
    const response = notice(405, 'notAllowed');
    response.headers.set('allow', 'GET, HEAD, POST');
    return response;
  }
  if (user === undefined && !ticket.acceptsLink)
    return notice(401, 'signIn', fill(words.signIn, { service: name }));
  if (user !== undefined && !(await mayAnswer(page, user)))
    return notYours(outside.page, user.subject);
  const by: OutsideUser | 'link' = user ?? 'link';
  const settled = await settledPage(page, by);
  if (request.method !== 'POST') return settled?.respond(200) ?? formPage(page);
  if (!isOwnPage(request, outside)) return notice(403, 'otherPage');
  if (settled !== undefined) return settled.respond(409);
  const posted = await readPosted(request, maxFormBytes(ticket.room));
  if (posted === undefined) return notice(413, 'tooMuch');
  const { content, errors } = readForm(ticket.form, posted, words);
  const pressed = pressedButton(posted);
  if (pressed === undefined) return notice(400, 'noDecision');
  if (pressed.decision === 'edit') return formPage(page, { posted });
  const at = host.timing.clock();
  const approved = pressed.decision === 'approve';
  const shown = await digestShown(ticket);
  // The saga has no room for a longer answer in its token, and would fail after this page confirmed it.
  const answer = toApprovalAnswer({ by, at, shown, approved }, content);
  const excess = recordedBytes(answer) - ticket.room;
  if (excess > 0) {
    const characters = charactersOf(ticket.form, content, excess);
    if (characters === 0) return notice(413, 'noRoom');
    const why = fill(words.tooLong, { excess: characters });
    return formPage(page, { posted, refused: { status: 413, why, errors } });
  }
  // Denials need no form.
  if (approved && errors.size > 0) {
    const why = html`${words.correctFields}`;
    return formPage(page, { posted, refused: { status: 422, why, errors } });
  }
  if (!pressed.isFinal) return confirmationPage(page, { approved, content, posted });
  const stored = await putAnswer(host, outside, ticket, { by, at, approved, content, shown });
  if (stored === 'added') await noteAnswer(host, ticket.sagaId).catch(host.observer.hooks.onError);
  // Another request of this person may have been faster, and another process may have keys that this
  // one has not.
  const recorded = await settledPage(page, by);
  const isNew = stored === 'added' && recorded?.isOwn === true;
  return recorded?.respond(isNew ? 200 : 409, isNew) ?? notice(503, 'notNow');
}

/**
 * The user as the application knows it, with its methods, and with the identity that counts. It is a
 * copy: the identity of a request must not be written into an object that the application keeps.
 */
function withIdentity(authenticated: unknown, user: OutsideUser): AnsweringUser {
  const known = Object(authenticated) as object;
  return Object.create(Object.getPrototypeOf(known) as object, {
    ...Object.getOwnPropertyDescriptors(known),
    // Without an issuer of its own, the identity has none, whatever the application calls so.
    ...Object.getOwnPropertyDescriptors({ issuer: undefined, ...user }),
  }) as AnsweringUser;
}

async function mayAnswer(
  { host, outside, ticket, authenticated }: AnswerPageRequest,
  user: OutsideUser,
): Promise<boolean> {
  const { caller, by, claims, sagaId } = ticket;
  if (caller !== undefined && isSameUser(caller, await digestUser(user))) return false;
  if (outside.mayAnswer === undefined) return by === null || ticket.acceptsLink;
  // Without types, it may return any value.
  const person = withIdentity(authenticated, user);
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- necessary if `Register` has a type for `by`
  const may: unknown = await outside.mayAnswer(person, by as never, {
    saga: claims.saga.name,
    sagaId,
    services: await host.services(),
  });
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

async function readPosted(request: Request, maxBytes: number): Promise<Posted | undefined> {
  const text = await limitedText(request, maxBytes);
  if (text === undefined) return undefined;
  return new Map(
    Array.from(postedFields(text), ([name, values]) => [
      name,
      // Browsers send line ends of forms as CRLF.
      values.map((value) => value.replaceAll('\r\n', '\n')),
    ]),
  );
}

/** Button of a posted form. */
interface PressedButton {
  readonly decision: 'approve' | 'deny' | 'edit';
  /** `true` for the button of the confirmation page, and for programs. */
  readonly isFinal: boolean;
}

/** Finds the button of a form. Undefined for a form with none, or with several. */
function pressedButton(posted: Posted): PressedButton | undefined {
  const decisions = posted.get('decision') ?? [];
  const reviews = posted.get('review') ?? [];
  const [pressed, ...others] = [...decisions, ...reviews];
  if (others.length > 0) return undefined;
  const isFinal = decisions.length === 1;
  if (pressed === 'approve' || pressed === 'deny') return { decision: pressed, isFinal };
  // Only the confirmation page has this button, which decides nothing.
  if (pressed === 'edit' && !isFinal) return { decision: 'edit', isFinal };
  return undefined;
}

/** What became of a question that this person can no longer answer. */
interface Settled {
  /**
   * Makes the page, by the status of a request that would have been good. `isNew`: this request
   * recorded the answer.
   */
  readonly respond: (status: 200 | 409, isNew?: boolean) => Response;
  /** `true` if the answer that counts was given by exactly this user, or holder of the link. */
  readonly isOwn: boolean;
}

/** Returns what became of a question. Undefined while this person can answer. */
async function settledPage(
  page: AnswerPageRequest,
  by: OutsideUser | 'link',
): Promise<Settled | undefined> {
  const { host, outside, ticket } = page;
  const { answers, isClosed } = await readBox(host, outside, { ...ticket, id: ticket.box });
  const { recipient } = ticket;
  const own = firstOfEach(answers).find((one) => mayBeOnePerson(one, { by, recipient }));
  const why = isClosed ? await whyClosed(host, outside, ticket) : undefined;
  if (why !== undefined) {
    return gone(outside.page, why, own && outside.page.words[`${why}Answered`]);
  }
  if (own !== undefined && (own.by === 'link') !== (by === 'link'))
    return gone(outside.page, 'used');
  if (own !== undefined) {
    const isOwn = isSameSender(own.by, by);
    // Whoever has a link can open it, and need not be the one who has answered with it.
    const mayRead = isOwn && by !== 'link';
    return {
      respond: (status, isNew = false) => recordedPage(status, page, own, isNew || mayRead),
      isOwn,
    };
  }
  if (isClosed) return gone(outside.page, 'closed');
  if (host.timing.clock() < ticket.claims.exp) return undefined;
  return gone(outside.page, 'tooLate');
}

/**
 * `true` if two people who may be one are known by the same issuer, or both by the link alone. The
 * same subject of two issuers may be two people.
 */
function isSameSender(one: OutsideUser | 'link', other: OutsideUser | 'link'): boolean {
  if (one === 'link' || other === 'link') return one === other;
  return one.issuer === other.issuer;
}

/**
 * Says why nobody can answer any more. Only a person who has just sent an answer reads that it was
 * not recorded: others have only opened the page.
 */
function gone(
  page: PageSettings,
  why: 'outdated' | 'withdrawn' | 'used' | 'closed' | 'tooLate',
  answered?: string,
): Settled {
  const { words } = page;
  return {
    respond: (status) =>
      status === 200
        ? noticeResponse(page, 410, why, html`${words[why]} ${answered}`)
        : noticeResponse(
            page,
            why === 'tooLate' ? 410 : 409,
            why,
            html`${words[why]} ${answered ?? words.notRecorded}`,
          ),
    isOwn: false,
  };
}

/**
 * Makes the page of a recorded answer. Only the very person who gave it reads its values, and that the
 * answer is theirs: two users may be one person, but need not be, and a link can be passed on.
 * @param isTheirs - `true` if this very person gave the answer
 */
function recordedPage(
  status: number,
  page: AnswerPageRequest,
  { approved, at, content }: Pick<OutsideAnswer, 'approved' | 'at' | 'content'>,
  isTheirs: boolean,
): Response {
  const { ticket, outside } = page;
  const { words } = outside.page;
  const [ifApproved, ifDenied, recorded] = isTheirs
    ? [words.approved, words.denied, words.recorded]
    : [words.wasApproved, words.wasDenied, words.wasRecorded];
  return pageResponse(
    outside.page,
    status,
    approved ? ifApproved : ifDenied,
    html`${messageOf(ticket)}${isTheirs && renderValues(ticket.form, isRecord(content) ? content : {}, words)}
      <p class="note">${fill(recorded, { time: timeOf(at, words) })}</p>
      ${renderFacts(page, false)}`,
    approved ? 'approved' : 'denied',
  );
}

/**
 * Renders who asks whom. A person who is not signed in does not read who started the request: a
 * link may be passed on.
 */
function renderFacts({ host, outside, ticket, user }: AnswerPageRequest, isOpen: boolean): Html {
  const { saga, exp } = { saga: ticket.claims.saga.name, exp: ticket.claims.exp };
  const { words, name } = outside.page;
  const asker = ticket.asker === '' ? words.anonymous : ticket.asker;
  const facts: readonly (readonly [string, Html] | false)[] = [
    [words.service, ofData(name)],
    [words.request, ofData(host.registry.named(saga)?.title ?? saga)],
    user !== undefined && asker !== undefined && [words.startedBy, ofData(asker)],
    [words.youAre, user === undefined ? html`${words.notSignedIn}` : ofData(user.subject)],
    isOpen && [words.answerUntil, timeOf(exp, words)],
  ];
  const rows = facts.flatMap((fact) =>
    fact === false ? [] : [html`<dt>${fact[0]}</dt><dd>${fact[1]}</dd>`],
  );
  return html`<dl class="facts">${rows}</dl>`;
}

/** A time in UTC, because the server does not know the time zone of the person. */
function timeOf(ms: number, words: PageWords): Html {
  const time = new Date(ms).toISOString();
  const shown = fill(words.time, { time: time.slice(0, 16).replace('T', ' ') });
  return html`<time datetime="${time}">${shown}</time>`;
}

/** Why a posted form was not recorded. */
interface Refused {
  readonly status: 413 | 422;
  readonly why: Html;
  readonly errors: FieldErrors;
}

/**
 * Counts the typed characters of a content that have a number of bytes as JSON, the largest
 * characters first. People count characters, which have up to six bytes. Returns the number of all
 * characters if they have fewer bytes: 0 if nothing was typed.
 */
function charactersOf(
  { properties }: OpenTicket['form'],
  content: FormContent['content'],
  bytes: number,
): number {
  const counts = new Map<number, number>();
  for (const [name, value] of Object.entries(content)) {
    const field = properties[name] ?? {};
    const isTyped = !('enum' in field || 'oneOf' in field);
    if (typeof value !== 'string' || !isTyped) continue;
    for (const character of value) {
      const size = bytesOfCharacter(character.codePointAt(0) ?? 0);
      counts.set(size, (counts.get(size) ?? 0) + 1);
    }
  }
  let counted = 0;
  let left = bytes;
  for (const [size, count] of [...counts].toSorted(([one], [other]) => other - one)) {
    const needed = Math.min(count, Math.max(0, Math.ceil(left / size)));
    counted += needed;
    left -= needed * size;
  }
  return counted;
}

/** Bytes of a character in JSON: escaped, or in UTF-8. */
function bytesOfCharacter(code: number): number {
  if (code < 0x20) return [0x08, 0x09, 0x0a, 0x0c, 0x0d].includes(code) ? 2 : 6;
  if (code < 0x80) return code === 0x22 || code === 0x5c ? 2 : 1;
  if (code < 0x800) return 2;
  if (code >= 0xd800 && code <= 0xdfff) return 6;
  return code < 0x10000 ? 3 : 4;
}

/**
 * Makes the page with the fields. None of its buttons decides: Enter in a field presses the first
 * submit button of a form. That one is disabled, so that Enter does nothing, although Chromium
 * presses the next one in a date.
 */
function formPage(
  page: AnswerPageRequest,
  { posted, refused }: { readonly posted?: Posted; readonly refused?: Refused } = {},
): Response {
  const { ticket, request, outside } = page;
  const { words } = outside.page;
  // A link with `?decision=` leads to a page with one button.
  const only = new URL(request.url).searchParams.get('decision');
  const approve = html`<button class="main" name="review" value="approve">${words.approve}</button>`;
  const deny = html`<button name="review" value="deny" formnovalidate>${words.deny}</button>`;
  const buttons = only === 'approve' ? approve : only === 'deny' ? deny : html`${approve}${deny}`;
  const problems =
    refused &&
    html`<div class="problems" role="alert"><p>${words.notRecorded} ${refused.why}</p></div>`;
  return pageResponse(
    outside.page,
    refused?.status ?? 200,
    words.decisionNeeded,
    html`${problems}${messageOf(ticket)}
      <form method="post">
        <button type="submit" disabled hidden></button>
        ${renderFields(ticket.form, words, posted, refused?.errors)}
        <div class="buttons">${buttons}</div>
      </form>
      ${renderFacts(page, true)}`,
  );
}

/** Answer that a person is about to give. */
interface PlannedAnswer {
  readonly approved: boolean;
  readonly content: FormContent['content'];
  readonly posted: Posted;
}

/**
 * Makes the page that shows all of an answer, and whose button records it. The page has no field,
 * so that a person can decide only by this button. Nothing is recorded before.
 */
function confirmationPage(
  page: AnswerPageRequest,
  { approved, content, posted }: PlannedAnswer,
): Response {
  const { ticket, outside } = page;
  const { words } = outside.page;
  const [title, value, label] = approved
    ? [words.approveThis, 'approve', words.confirmApproval]
    : [words.denyThis, 'deny', words.confirmDenial];
  return pageResponse(
    outside.page,
    200,
    title,
    html`${messageOf(ticket)}${renderValues(ticket.form, content, words)}${renderFacts(page, true)}
      <p class="note">${words.nothingRecorded}</p>
      <form method="post">
        ${renderHidden(ticket.form, posted)}
        <div class="buttons">
          <button class="main" name="decision" value="${value}">${label}</button>
          <button name="review" value="edit">${words.change}</button>
        </div>
      </form>`,
  );
}

function messageOf({ message }: OpenTicket): Html {
  return html`<p class="message">${ofData(message)}</p>`;
}
