import assert from 'node:assert/strict';
import { SagaGone, startSaga, SuspendedSaga } from '@mcp-saga/client';
import type { Client } from '@modelcontextprotocol/client';

/** What was ordered. */
export interface Ordered {
  /** The warehouse. */
  readonly from: string;
  /** The instances of the server that reserved and ordered. */
  readonly by: readonly [string, string];
}

const call = { name: 'order', arguments: { item: 'umbrellas' } };

/** Calls the tool as every MCP client does, and has its questions answered by the client's user. */
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

/** Calls the tool by the saga methods, and stops at its first question. */
export async function begin(client: Client): Promise<SuspendedSaga> {
  const turn = await startSaga(client, call);
  assert(turn.status === 'suspended');
  return turn.saga;
}

/** Answers the first question, and stops at the second. */
export async function goOn(client: Client, begun: SuspendedSaga): Promise<SuspendedSaga> {
  const turn = await SuspendedSaga.from(client, begun).resume([
    { stepId: 'quantity', result: { action: 'accept', content: { quantity: 3 } } },
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

/** Asserts that what one user has begun, another user cannot go on with, and the first one can. */
export async function assertBound(ada: Client, eve: Client): Promise<void> {
  const begun = await begin(ada);
  await assert.rejects(goOn(eve, begun), SagaGone);
  await end(ada, await goOn(ada, begun));
  console.log("Another user's token was refused.");
}
