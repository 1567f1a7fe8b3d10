import { TokenRefused, digestText } from '@mcp-saga/seal';
import type { HostParts, OutsideAccess } from '../../settings/host-parts.ts';
import { askMailbox } from './stored-answers.ts';

// A link names its ticket, which lies sealed in the mailbox: chat tools and mail programs break long
// links, and a ticket holds the message and the whole form. The name is a secret of the saga, and the
// mailbox knows only a digest of it, so that it can make no link. A ticket is sealed for its name, so
// that the mailbox cannot exchange two of them.

type MailboxAccess = Pick<OutsideAccess, 'mailbox'>;

const named = /^[\w-]{22}$/;
const slot = 'ticket';

/**
 * Stores a sealed ticket under its name, as often as its link is made. Returns `false` if the mailbox
 * refuses it: the link must then hold the ticket.
 * @param expiresAt - time at which the mailbox may forget it (ms since the epoch)
 * @throws SagaHostError `store_down`
 */
export async function storeTicket(
  host: Pick<HostParts, 'observer'>,
  { mailbox }: MailboxAccess,
  name: string,
  sealed: string,
  expiresAt: number,
): Promise<boolean> {
  const box = await boxOf(name);
  const bounds = { expiresAt, maxAnswers: 1 };
  const result = await askMailbox(host, () => mailbox.put(box, slot, sealed, bounds));
  return result === 'stored' || result === 'taken';
}

/** Sealed ticket of a link. */
export interface FoundTicket {
  readonly sealed: string;
  /** Name in the link. Undefined: the link holds the ticket itself. */
  readonly name: string | undefined;
}

/**
 * Finds the sealed ticket of the last part of a link.
 * @throws TokenRefused `unknown_handle` for a name that the mailbox does not know
 * @throws SagaHostError `store_down`
 */
export async function findTicket(
  host: Pick<HostParts, 'observer'>,
  { mailbox }: MailboxAccess,
  text: string,
): Promise<FoundTicket> {
  if (!named.test(text)) return { sealed: text, name: undefined };
  const box = await boxOf(text);
  const sealed = await askMailbox(host, async () => {
    const { answers } = await mailbox.list(box);
    return answers.find((one) => one.slot === slot)?.sealed;
  });
  if (sealed === undefined) throw new TokenRefused('unknown_handle');
  return { sealed, name: text };
}

async function boxOf(name: string): Promise<string> {
  return (await digestText(`ticket ${name}`)).slice(0, 22);
}
