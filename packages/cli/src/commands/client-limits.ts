/**
 * What a server cannot do, and for which clients, for `mcp-saga doctor`. A limit is no failed check:
 * the sagas and the clients of a service may never meet it.
 */
import type { Client } from '@modelcontextprotocol/client';
import { withServer, type ServerValues } from '../calling/connect.ts';
import { declaredFor, offersTasks } from '../calling/call-tool.ts';
import type { GivenOptions } from '../input/load-sagas.ts';
import type { CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';

/** Returns the limits that a client sees, which knows no options of the server. */
export async function limitsSeen(
  client: Client,
  values: ServerValues,
  io: CommandIo,
): Promise<readonly string[]> {
  const tasks = offersTasks(client)
    ? []
    : ['has no tasks: a client with tasks waits in its call, as all others do'];
  return [...(await limitOfOldClients(client, values, io)), ...tasks];
}

/** A server asks clients of MCP 2025 by requests of its own, which need a session or stdio. */
async function limitOfOldClients(
  client: Client,
  values: ServerValues,
  io: CommandIo,
): Promise<readonly string[]> {
  if (values.url === undefined) return [];
  const isOld = client.getProtocolEra() === 'legacy';
  // The options may name the other version, which then says nothing about clients of MCP 2025.
  if (!isOld && values.mcp !== undefined) return [];
  try {
    const old = { ...values, mcp: '2025-11-25' };
    const isAsked = isOld
      ? hasSession(client)
      : await withServer(old, declaredFor(undefined), io, (each) =>
          Promise.resolve(hasSession(each)),
        );
    return [
      isAsked
        ? 'asks clients of MCP 2025 only in a session, which lives in one process'
        : 'cannot ask clients of MCP 2025, because it has no sessions: a question ends with `client_cannot`, unless the model or a fallback answers',
    ];
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return ['does not serve clients of MCP 2025'];
  }
}

function hasSession({ transport }: Client): boolean {
  return transport?.sessionId !== undefined;
}

/** Returns the limits that follow from the options of a host or a server. */
export function limitsOf({ store, queue, url, answerers }: GivenOptions): readonly string[] {
  const limits: readonly (readonly [option: string, isSet: boolean, limit: string])[] = [
    [
      'answerers.model',
      answerers?.model !== undefined,
      'cannot ask clients without forms: a question ends with `client_cannot`, unless a fallback answers',
    ],
    [
      'answerers.sampling',
      answerers?.sampling !== undefined,
      'cannot sample for clients without sampling: `sample` ends with `client_cannot`',
    ],
    [
      'store',
      store !== undefined,
      'cannot give models a short handle: they copy whole tokens, which Copilot CLI hides from them',
    ],
    [
      'queue',
      queue !== undefined,
      'cannot continue without its client: a saga whose client never returns stays as it is',
    ],
    [
      'url',
      url !== undefined,
      'cannot be answered from outside: `approval` and `waitFor` have no links',
    ],
  ];
  return limits
    .filter(([, isSet]) => !isSet)
    .map(([option, , limit]) => `${limit}. Set \`${option}\` to change this.`);
}
