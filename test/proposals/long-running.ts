import { checkpoint, saga, sleep, step, type SagaHostOptions } from '@mcp-saga/server';
import { expect } from 'vitest';
import * as z from 'zod';
import { served, type Served } from '../../packages/server/test/fixtures/calling.ts';
import type { Era, Fetches, RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { respond } from './exchange.ts';

/** Arguments of a call with two parts. */
export const given = { param_str: 'value', param_num: 2 };

/** Runs the given number of parts, each with a text for its caller. */
function longRunning(ran: string[] = []) {
  return saga(
    {
      name: 'long_running_tool',
      version: '1',
      description: 'Works in parts',
      input: z.object({ param_str: z.string(), param_num: z.int() }),
    },
    function* ({ param_str: text, param_num: parts }) {
      for (let part = 1; part < parts; part += 1) {
        yield* step('part', () => void ran.push(`part ${part}`), { key: String(part) });
        yield* checkpoint(`${text} ${part}`);
      }
      yield* step('last', () => void ran.push('last'));
      return `${text} ${parts}`;
    },
  );
}

/** A tool whose result becomes consistent after an hour. */
export const eventual = saga({ name: 'long_running_tool', version: '1' }, function* () {
  yield* sleep(3_600_000);
  return 'consistent';
});

type CallParams = Readonly<Record<string, unknown>>;

/** Calls the tool. */
export async function call(server: Fetches, era: Era, more: CallParams = {}): Promise<RawMessage> {
  const params = { name: 'long_running_tool', arguments: given, ...more };
  return await respond(server, era, { method: 'tools/call', params });
}

/** Repeats the tool call, with the token as an argument. */
export async function resume(
  server: Fetches,
  era: Era,
  token: unknown,
  args: object = given,
): Promise<RawMessage> {
  return await call(server, era, { arguments: { ...args, resumeToken: token } });
}

/** Returns the token that continues a call. */
export function tokenOf({ result }: RawMessage): string {
  const token = result?.['nextResumeToken'];
  expect(token).toEqual(expect.any(String));
  return String(token);
}

/** Expects the final result of a call, without a token. */
export function expectComplete({ result }: RawMessage, text: string): void {
  expect(result).toMatchObject({ content: [{ type: 'text', text }] });
  expect(JSON.stringify(result)).not.toContain('esumeToken');
}

/** Serves a tool that notes the parts it ran. */
export function servedWith(
  options: Partial<Omit<SagaHostOptions, 'sagas' | 'clock'>> = {},
  ran: string[] = [],
): Served {
  return served([longRunning(ran)], options);
}
