import type { OutsideUser } from '@mcp-saga/core';
import { isRecord, present } from '@mcp-saga/core/program';
import { digestText } from '@mcp-saga/seal';

/**
 * Reads the user of a sealed principal. Undefined for anonymous callers, and for principals without
 * a subject.
 */
export function toUser(principal: string | null): OutsideUser | undefined {
  const read: unknown = principal === null ? undefined : JSON.parse(principal);
  if (!isRecord(read) || typeof read['subject'] !== 'string') return undefined;
  const { subject, issuer } = read;
  // An empty issuer names nobody, as a missing one.
  const isNamed = typeof issuer === 'string' && issuer !== '';
  return { subject, ...present({ issuer: isNamed ? issuer : undefined }) };
}

/**
 * Replaces issuer and subject by digests: two users are the same by their names if they are the
 * same by their digests, which have one length for all names.
 */
export async function digestUser({ issuer, subject }: OutsideUser): Promise<OutsideUser> {
  return {
    subject: await digestText(subject),
    ...present({ issuer: issuer === undefined ? undefined : await digestText(issuer) }),
  };
}
