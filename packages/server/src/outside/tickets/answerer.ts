import type { OutsideUser } from '@mcp-saga/core';
import { isRecord, present } from '@mcp-saga/core/program';
import { digestText } from '@mcp-saga/seal';
import type { CallerDigest } from './ticket.ts';

/**
 * Reads the user of a sealed principal. Undefined for anonymous callers, and for principals without
 * a subject.
 */
export function toUser(principal: string | null): OutsideUser | undefined {
  const read: unknown = principal === null ? undefined : JSON.parse(principal);
  if (!isRecord(read) || typeof read['subject'] !== 'string') return undefined;
  const { subject, issuer } = read;
  return { subject, ...present({ issuer: typeof issuer === 'string' ? issuer : undefined }) };
}

/** Digests of a user. */
export async function digestUser({ issuer, subject }: OutsideUser): Promise<CallerDigest> {
  return [issuer === undefined ? null : await digestText(issuer), await digestText(subject)];
}

/**
 * `true` if a user may be the caller of a saga. A missing issuer fits any issuer: sessions of
 * browsers and access tokens of clients may name the same person in different ways.
 */
export async function isCaller(caller: CallerDigest, user: OutsideUser): Promise<boolean> {
  const [issuer, subject] = await digestUser(user);
  return subject === caller[1] && (issuer === null || caller[0] === null || issuer === caller[0]);
}
