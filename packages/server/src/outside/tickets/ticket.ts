import type { Json, OutsideUser } from '@mcp-saga/core';
import { isRecord, present, type FormSchema, type OutsideQuestion } from '@mcp-saga/core/program';
import {
  canonicalize,
  digestText,
  fromBase64Url,
  toBase64Url,
  TokenRefused,
  type Claims,
} from '@mcp-saga/seal';
import { atAnyTime, readSealedRecord } from '../../token/sealed-saga.ts';
import { isForm } from './sealed-form.ts';
import { sealTenant } from '../../token/tenant-token.ts';
import type { HostParts } from '../../settings/host-parts.ts';

/** Question in a ticket. */
export interface Ticket {
  readonly kind: OutsideQuestion['kind'];
  /** Box of the answers in the mailbox. */
  readonly box: string;
  /** Secret of the box, from which slots are derived: the mailbox cannot find out who answered. */
  readonly salt: string;
  /** Number of the recipient. */
  readonly recipient: number;
  /** Bytes that the saga has room for, of one answer as it is recorded. */
  readonly room: number;
  readonly message: string;
  readonly form: FormSchema;
  /** People who may answer. `null`: any user. */
  readonly by: Json;
  /** `true` if possession of the link is enough. */
  readonly acceptsLink: boolean;
  /**
   * Caller, who may not answer, with digests in place of issuer and subject. Undefined: the caller
   * may, or is unknown.
   */
  readonly caller?: OutsideUser;
  /** Name of the check of a webhook. */
  readonly verify?: string;
  /**
   * Subject of the user who started the saga, cut to 64 bytes; empty for an anonymous caller.
   * Undefined for an event.
   */
  readonly asker?: string;
}

/** Opened ticket. */
export interface OpenTicket extends Ticket {
  readonly sagaId: string;
  readonly claims: Claims;
}

/** Members of a ticket as sealed. */
interface Sealed {
  readonly k: 'a' | 'e';
  readonly b: string;
  readonly s: string;
  readonly n: number;
  readonly r: number;
  readonly m: string;
  readonly f: FormSchema;
  readonly w: Json;
  readonly l: 0 | 1;
  readonly c?: OutsideUser;
  readonly v?: string;
  readonly q?: string;
  /** Name of the ticket in its link. */
  readonly i?: string;
}

/**
 * Seals a ticket. Never compressed: the length of a link must not depend on who asks. Equal tickets
 * have equal texts.
 * @param name - name of the ticket in its link. Undefined: the link holds the ticket itself
 */
export async function sealTicket(
  { keys }: Pick<HostParts, 'keys'>,
  sagaId: string,
  claims: Claims,
  ticket: Ticket,
  name: string | undefined,
): Promise<string> {
  const sealed: Sealed = {
    k: ticket.kind === 'approval' ? 'a' : 'e',
    b: ticket.box,
    s: ticket.salt,
    n: ticket.recipient,
    r: ticket.room,
    m: ticket.message,
    f: ticket.form,
    w: ticket.by,
    l: ticket.acceptsLink ? 1 : 0,
    ...present({ c: ticket.caller, v: ticket.verify, i: name }),
    ...present({ q: ticket.asker === undefined ? undefined : padded(ticket.asker) }),
  };
  const text = await keys.sealer.seal('ticket', sagaId, claims, [
    { bytes: JSON.stringify(sealed), compress: false },
  ]);
  return await sealTenant(keys, sagaId, claims, text);
}

/**
 * Opens a ticket, expired or not. Throws TokenRefused for everything else, also for the ticket of
 * another link: a mailbox must not exchange tickets, nor use them as links.
 */
export async function openTicket(
  { keys, gate }: Pick<HostParts, 'keys' | 'gate'>,
  text: string,
  name: string | undefined,
): Promise<OpenTicket> {
  const { rejectIssuedBefore } = gate;
  const expect = { purpose: 'ticket', ...atAnyTime, ...present({ rejectIssuedBefore }) } as const;
  const { claims, sid, streams } = await keys.sealer.open(text, expect);
  const { k, b, s, n, r, m, f, w, l, c, v, q, i } = readSealedRecord<Sealed>(streams[0], {
    k: (value) => value === 'a' || value === 'e',
    b: 'string',
    s: 'string',
    n: 'number',
    r: 'number',
    m: 'string',
    f: isForm,
    w: 'json',
    l: (value) => value === 0 || value === 1,
    c: (value) => value === undefined || isUser(value),
    v: 'string?',
    q: 'string?',
    i: 'string?',
  });
  if (i !== name) throw new TokenRefused('undecryptable');
  return {
    kind: k === 'a' ? 'approval' : 'event',
    box: b,
    salt: s,
    recipient: n,
    room: r,
    message: m,
    form: f,
    by: w,
    acceptsLink: l === 1,
    ...present({ caller: c, verify: v, asker: q === undefined ? undefined : unpadded(q) }),
    sagaId: sid,
    claims,
  };
}

/** `true` for a sealed user, or the digests of one. */
function isUser(value: unknown): value is OutsideUser {
  if (!isRecord(value) || typeof value['subject'] !== 'string') return false;
  const { issuer = '' } = value;
  return typeof issuer === 'string';
}

/** Bytes of the name of the asker: the length of a link must not depend on who asks. */
const askerBytes = 64;

/** Writes a name as base64url of a fixed length. A longer name is cut between two characters. */
function padded(name: string): string {
  const bytes = new Uint8Array(askerBytes);
  new TextEncoder().encodeInto(name.replaceAll('\0', ''), bytes);
  return toBase64Url(bytes);
}

function unpadded(text: string): string {
  const bytes = fromBase64Url(text) ?? new Uint8Array();
  return new TextDecoder().decode(bytes).replaceAll('\0', '');
}

/** Claims of a ticket: equal for all deliveries, so that retries have the same text. */
export function ticketClaims(of: Claims, began: number, expiresAt: number): Claims {
  return {
    ...of,
    method: '',
    entry: { target: '', argsDigest: '' },
    principal: null,
    turn: 0,
    jti: '',
    iat: Math.max(0, Math.floor(began)),
    exp: Math.max(0, Math.floor(expiresAt)),
  };
}

/** Digest of what a page shows: SHA-256 of the canonical JSON of message and form, in base64url. */
export async function digestShown({
  message,
  form,
}: Pick<Ticket, 'message' | 'form'>): Promise<string> {
  return await digestText(canonicalize({ message, form }));
}
