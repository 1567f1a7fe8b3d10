/** Four trips: one goes well, one fails at the third booking, one after the payment, and one user goes back in time. */
import assert from 'node:assert/strict';
import { callSaga, startSaga, type CallToolResult } from '@mcp-saga/client';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';

const happened: string[] = [];
const server = await startServer('agency', {
  folder: new URL('.', import.meta.url),
  environment: { SAGA_KEYS: generateKey() },
  onLine: (line) => {
    // What the host tells its operator is not the agency's.
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
    await callSaga(client, { name: 'book_trip', arguments: { city } }, { handlers: { elicitation } }),
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
assert.doesNotMatch(paid, /Undone/, 'after the payment there is no way back');
assert(!happened.some((line) => line.startsWith('cancelled')));

console.log('A trip to Oslo, paid, by a user who then goes back to the question and says no');
const begun = await startSaga(client, { name: 'book_trip', arguments: { city: 'Oslo' } });
assert(begun.status === 'suspended');
// The first token comes before the first booking, so that no lost response books twice: nothing is asked yet.
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
