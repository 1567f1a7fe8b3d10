/**
 * Requests of people and systems that are not the client: answer pages (`answer-page.ts`, a form
 * that one person fills in) and webhooks (`event-request.ts`).
 *
 * 1. The link leads to a sealed ticket, which says what is asked, of whom, and where the answer
 *    goes.
 * 2. The sender is identified: by the host, by the check of a webhook, or by the link alone if
 *    the saga accepts that.
 * 3. The answer is sealed for its box, and added to it. A queue is told to wake the saga.
 *
 * - GET never answers, because chat tools and virus scanners open links.
 * - A link that does not open gives one page, whatever the reason is.
 * - The page says that an answer was recorded only after a read has found it in the box.
 */
import { TokenRefused } from '@mcp-saga/seal';
import { isResponse } from '../http/serve-options.ts';
import type { Caller } from '../model/caller.ts';
import { principalOf } from '../requests/open-for-caller.ts';
import { withTenantOf, type SagaHostCore } from '../requests/host.ts';
import type { HostParts, OutsideAccess } from '../settings/host-parts.ts';
import { SagaHostError } from '../wire/errors.ts';
import { answerPage, type AnswerPageRequest } from './answer-page.ts';
import { eventResponse, receiveEvent } from './event-request.ts';
import { noticeResponse, notYours } from './page.ts';
import { toUser } from './tickets/answerer.ts';
import { findTicket } from './tickets/link.ts';
import { openTicket, type OpenTicket } from './tickets/ticket.ts';

/**
 * Identifies the sender of a request, or responds in place of the page, such as with a redirect to
 * a login.
 */
export type Identify = () => Promise<Pick<Caller, 'principal' | 'user'> | Response>;

const paths = /\/saga\/(answer|event)\/([^/]+)$/;

/** `true` for a path of an answer page or a webhook. */
export function isAnswerPath(pathname: string): boolean {
  return paths.test(pathname);
}

/**
 * Responds to a request for an answer page or a webhook. Every ticket that does not open gets the
 * same response; `onReject` gets the reason.
 */
export async function answerRequest(
  core: SagaHostCore,
  request: Request,
  identify: Identify,
): Promise<Response> {
  const { observer, offers } = core;
  const { outside } = offers;
  const [, kind, text = ''] = paths.exec(new URL(request.url).pathname) ?? [];
  if (outside === undefined) return eventResponse(404, 'This host serves no links.');
  const { page } = outside;
  if (kind === undefined) return noticeResponse(page, 404, 'invalid');
  try {
    // Some programs escape the tilde behind the name of a tenant.
    const { sealed, name } = await findTicket(core, outside, text.replace(/%7e/i, '~'));
    const { host, token } = await withTenantOf(core, sealed, 'link');
    const ticket = await openTicket(host, token, name);
    if (ticket.kind !== (kind === 'answer' ? 'approval' : 'event'))
      throw new TokenRefused('purpose');
    if (ticket.kind === 'event') return await receiveEvent(host, outside, ticket, request);
    const user = await userOf(core, host, outside, ticket, identify);
    const response = isResponse(user)
      ? user
      : await answerPage({ host, outside, ticket, request, ...user });
    return request.method === 'HEAD' ? new Response(null, response) : response;
  } catch (error) {
    if (error instanceof TokenRefused) {
      observer.reject(error.reason);
      return noticeResponse(page, 404, 'invalid');
    }
    // The store or the keys are down, which was reported, or a function of the host threw.
    const isReported =
      error instanceof SagaHostError && ['store_down', 'keys_down'].includes(error.code);
    if (!isReported) observer.hooks.onError(error);
    return kind === 'event'
      ? eventResponse(503, 'Send the event again later.')
      : noticeResponse(page, 503, 'notNow');
  }
}

/** Finds the user. A response of the host counts only if the link alone is not enough. */
async function userOf(
  { keys: { source } }: SagaHostCore,
  host: HostParts,
  { page }: OutsideAccess,
  { acceptsLink }: OpenTicket,
  identify: Identify,
): Promise<Pick<AnswerPageRequest, 'user' | 'authenticated'> | Response> {
  const found = await identify();
  if (isResponse(found)) return acceptsLink ? { user: undefined, authenticated: undefined } : found;
  const user = toUser(await principalOf(found, host.gate));
  const { tenant } = host.keys;
  // Users of two tenants may have the same subject.
  if (
    user !== undefined &&
    tenant !== undefined &&
    (await source?.tenants?.tenantOf(found)) !== tenant
  )
    return notYours(page, user.subject);
  return { user, authenticated: found.user };
}
