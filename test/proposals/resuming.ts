import { expect } from 'vitest';
import { policy } from '../../packages/server/test/fixtures/five.ts';
import type { Era, Fetches, RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { exchange, type Sent } from './exchange.ts';

/** Capabilities of a client that resumes requests. */
export const capabilities = { resumableRequests: {} };

/** ID of the interrupted and resumed request. */
export const id = 123;

/** A call of a tool by a client that resumes requests. */
export const call = (name: string, more: Partial<Sent> = {}): Sent => ({
  method: 'tools/call',
  params: { name, arguments: {} },
  id,
  capabilities,
  progressToken: 'first',
  ...more,
});

/** Request that resumes an interrupted request. */
export const resume = (resumeToken: unknown, more: Partial<Sent> = {}): Sent => ({
  method: 'requests/resume',
  params: { resumeToken },
  id,
  capabilities,
  progressToken: 'again',
  ...more,
});

/** Request for the status of a request. */
export const status = (resumeToken: unknown, requestId: unknown = id): Sent => ({
  method: 'requests/getStatus',
  params: { requestId, resumeToken },
  id: 'another',
});

/** `true` for the notification that carries the resume token of a request. */
export const isPolicy = ({ method }: RawMessage): boolean => method === policy;

/** Returns the parameters of all policy notifications, in order. */
export function policiesIn(
  messages: readonly RawMessage[],
): readonly Readonly<Record<string, unknown>>[] {
  return messages.filter(isPolicy).map(({ params = {} }) => params);
}

/** Calls a tool, and cuts the connection when the policy notification arrives. */
export async function cut(
  server: Fetches,
  era: Era,
  name: string,
  more: Partial<Sent> = {},
): Promise<string> {
  const [told] = policiesIn(await exchange(server, era, call(name, more), isPolicy));
  expect(told).toMatchObject({ requestId: more.id ?? id, resumeToken: expect.any(String) });
  return String(told?.['resumeToken']);
}
