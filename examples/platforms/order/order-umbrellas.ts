import assert from 'node:assert/strict';
import { SagaGone, startSaga, SuspendedSaga } from '@mcp-saga/client';
import type { Client } from '@modelcontextprotocol/client';

/** Ordered items. */
export interface Ordered {
  /** The warehouse. */
  readonly from: string;
  /** The instances of the server that reserved and ordered. */
  readonly by: readonly [string, string];
}

const call = { name: 'order', arguments: { item: 'umbrellas' } };

/** Calls the tool like any MCP client. The user of the client answers the questions. */
export async function orderUmbrellas(client: Client): Promise<Ordered> {
  const { content, isError } = await client.callTool(call);
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  assert(isError !== true, text);
  console.log(text);
  const [, from, reserved, ordered] =
    /^3 umbrellas from (.+): reserved by (\S+), ordered by (\S+)\.$/.exec(text) ?? [];
  assert(from !== undefined && reserved !== undefined && ordered !== undefined, text);
  return { from, by: [reserved, ordered] };
}

/** Starts a saga by the saga methods, and stops at the first question. */
export async function begin(client: Client): Promise<SuspendedSaga> {
  const turn = await startSaga(client, call);
  assert(turn.status === 'suspended');
  return turn.saga;
}

/** Answers the first question, and stops at the second. */
export async function goOn(
  client: Client,
  begun: SuspendedSaga,
  quantity = 3,
): Promise<SuspendedSaga> {
  const turn = await SuspendedSaga.from(client, begun).resume([
    { stepId: 'quantity', result: { action: 'accept', content: { quantity } } },
  ]);
  assert(turn.status === 'suspended');
  return turn.saga;
}

/** Answers the second question. */
export async function end(client: Client, asked: SuspendedSaga): Promise<void> {
  const turn = await SuspendedSaga.from(client, asked).resume([
    { stepId: 'sure', result: { action: 'accept', content: { sure: true } } },
  ]);
  assert(turn.status === 'completed' && turn.result.isError !== true);
}

/** Asserts that only the user who started a saga can continue the saga. */
export async function assertBound(ada: Client, eve: Client): Promise<void> {
  const begun = await begin(ada);
  await assert.rejects(goOn(eve, begun), SagaGone);
  await end(ada, await goOn(ada, begun));
  console.log("Another user's token was refused.");
}

/** `true` if the environment names a store for the servers. */
export function hasStore(): boolean {
  return ['REDIS_URL', 'DATABASE_URL', 'KV_REST_API_URL'].some((name) => process.env[name]);
}

/**
 * Asserts that two servers share a store: a used token gets the stored response from the other
 * server, and no other answer counts. The requests of the client must alternate between the
 * servers.
 */
export async function assertShared(client: Client): Promise<void> {
  const begun = await begin(client);
  const asked = await goOn(client, begun);
  const again = await goOn(client, begun);
  assert.deepEqual(again.toJSON(), asked.toJSON(), 'the other server repeats the response');
  await assert.rejects(goOn(client, begun, 4), SagaGone, 'the first server refuses another answer');
  await assert.rejects(goOn(client, begun, 5), SagaGone, 'the other server refuses it, too');
  await end(client, asked);
  console.log('The servers share a store: a used token was refused.');
}
