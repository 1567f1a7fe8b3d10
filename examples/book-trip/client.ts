/**
 * Books four trips: a success, a failed booking, a failure after the payment, and an old token used
 * again.
 */
import assert from 'node:assert/strict';
import { callSaga, startSaga, type CallToolResult } from '@mcp-saga/client';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';

const happened: string[] = [];
const server = await startServer('agency', {
  folder: new URL('.', import.meta.url),
  environment: { SAGA_KEYS: generateKey() },
  onLine: (line) => {
    // Messages of the host for its operator do not belong in the output of the agency.
    if (!line.startsWith('mcp-saga: ')) happened.push(line);
    console.log(`  ${line}`);
  },
});
const client = await connect(server.url);

const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => ('text' in block ? block.text : '')).join('');

const elicitation = () => ({ action: 'accept', content: { sure: true } }) as const;

async function book(city: string): Promise<string> {
  happened.length = 0;
  console.log(`A trip to ${city}`);
  const text = textOf(
    await callSaga(
      client,
      { name: 'book_trip', arguments: { city } },
      { handlers: { elicitation } },
    ),
  );
  console.log(`  -> ${text}\n`);
  return text;
}

assert.equal(await book('Lisbon'), 'Have a good time in Lisbon.');

const failed = await book('Atlantis');
assert.match(failed, /failed at step 'book\(car\)'/);
assert.match(failed, /Undone: 'book\(flight\)' \(flight\), 'book\(hotel\)' \(hotel\)/);
assert.deepEqual(happened.slice(-2), ['cancelled the flight', 'cancelled the hotel']);

const paid = await book('Utopia');
assert.match(paid, /failed at step 'mail'/);
assert.doesNotMatch(paid, /Undone/, 'nothing is undone after the payment');
assert(!happened.some((line) => line.startsWith('cancelled')));

console.log('A paid trip to Oslo, whose user answers the old question again with no');
const begun = await startSaga(client, { name: 'book_trip', arguments: { city: 'Oslo' } });
assert(begun.status === 'suspended');
// The first token precedes the first booking and asks nothing. A lost response therefore repeats no
// booking.
const turn = await begun.saga.resume();
assert(turn.status === 'suspended');
const answer = (sure: boolean) =>
  [{ stepId: 'sure', result: { action: 'accept', content: { sure } } }] as const;
const end = await turn.saga.resume(answer(true));
assert(end.status === 'completed');
await assert.rejects(turn.saga.resume(answer(false)), { code: 'saga_gone' });
const again = await turn.saga.resume(answer(true));
assert(
  again.status === 'completed' && textOf(again.result) === textOf(end.result),
  'the same request, the same answer',
);
console.log('  -> refused, and nothing was undone\n');
assert.equal(happened.filter((line) => line.startsWith('paid for Oslo')).length, 1);

await server.stop();
console.log('Done.');
