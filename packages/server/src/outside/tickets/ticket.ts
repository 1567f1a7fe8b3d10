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
  /** Box of the answers. */
  readonly box: string;
  /** Secret of the box, from which slots are derived: the store cannot find out who answered. */
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
  /** Digest of the principal who pays for the stored answers. Undefined: nobody. */
  readonly payer?: string;
}

/** Opened ticket. */
export interface OpenTicket extends Ticket {
  readonly sagaId: string;
  readonly claims: Claims;
}

/** Ticket as sealed. The name of the asker has a fixed length. */
interface SealedTicket extends Ticket {
  /** Name of the ticket in its link. */
  readonly name?: string;
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
  const { asker, payer = nobody, ...rest } = ticket;
  const sealed: SealedTicket = {
    ...rest,
    payer,
    ...present({ name, asker: asker === undefined ? undefined : padded(asker) }),
  };
  const text = await keys.sealer.seal('ticket', sagaId, claims, [
    { bytes: JSON.stringify(sealed), compress: false },
  ]);
  return await sealTenant(keys, sagaId, claims, text);
}

/**
 * Opens a ticket, expired or not. Throws TokenRefused for everything else, also for the ticket of
 * another link: a store must not exchange tickets, nor use them as links.
 */
export async function openTicket(
  { keys, gate }: Pick<HostParts, 'keys' | 'gate'>,
  text: string,
  name: string | undefined,
): Promise<OpenTicket> {
  const { rejectIssuedBefore } = gate;
  const expect = { purpose: 'ticket', ...atAnyTime, ...present({ rejectIssuedBefore }) } as const;
  const { claims, sid, streams } = await keys.sealer.open(text, expect);
  const sealed = readSealedRecord<SealedTicket>(streams[0], {
    kind: (value) => value === 'approval' || value === 'event',
    box: 'string',
    salt: 'string',
    recipient: 'number',
    room: 'number',
    message: 'string',
    form: isForm,
    by: 'json',
    acceptsLink: 'boolean',
    caller: (value) => value === undefined || isUser(value),
    verify: 'string?',
    asker: 'string?',
    payer: 'string',
    name: 'string?',
  });
  const { name: sealedName, asker, payer, ...ticket } = sealed;
  if (sealedName !== name) throw new TokenRefused('undecryptable');
  const known = present({
    asker: asker === undefined ? undefined : unpadded(asker),
    payer: payer === nobody ? undefined : payer,
  });
  return Object.assign(ticket, known, { sagaId: sid, claims });
}

/** `true` for a sealed user, or the digests of one. */
export function isUser(value: unknown): value is OutsideUser {
  if (!isRecord(value) || typeof value['subject'] !== 'string') return false;
  const { issuer = '' } = value;
  return typeof issuer === 'string';
}

/** In place of the digest of a principal: the length of a link must not depend on who asks. */
const nobody = '-'.repeat(43);

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
