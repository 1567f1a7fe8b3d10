/** Three incidents on two servers: answered in time, answered too late, and a false alarm. */
import assert from 'node:assert/strict';
import { startSaga, SuspendedSaga, type ClientTurn, type CompletedStep } from '@mcp-saga/client';
import { connect, startServer, type ServerProcess } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { startOperations } from './ops.ts';

const operations = await startOperations();
const folder = new URL('.', import.meta.url);
const environment = { SAGA_KEYS: generateKey(), OPS_URL: operations.url };
const [a, b, later] = await Promise.all([
  startServer('A', { folder, environment }),
  startServer('B', { folder, environment }),
  startServer('B, ten minutes later,', {
    folder,
    environment: { ...environment, CLOCK_AHEAD: '600000' },
  }),
]);

/** Prints the outcome of a turn. */
function tell(server: ServerProcess, turn: ClientTurn): void {
  if (turn.status === 'suspended') {
    for (const step of turn.saga.pending) {
      const asks = step.type === 'elicitation' ? step.params.message : `(${step.type})`;
      console.log(`${server.name} asks '${step.stepId}': ${asks}`);
    }
  } else {
    console.log(`${server.name} says: ${textOf(turn)}`);
  }
}

function textOf(turn: ClientTurn): string {
  assert(turn.status === 'completed');
  return turn.result.content.map((block) => ('text' in block ? block.text : '')).join('');
}

async function report(
  server: ServerProcess,
  service: string,
  symptom: string,
): Promise<SuspendedSaga> {
  console.log(`\n${service}: ${symptom}`);
  const call = { name: 'triage_incident', arguments: { service, symptom } };
  const begun = await startSaga(await connect(server.url), call);
  // The client has a token before there is a room: a lost first response opens none.
  assert(begun.status === 'suspended' && begun.saga.steps.length === 0);
  const turn = await begun.saga.resume();
  tell(server, turn);
  assert(turn.status === 'suspended');
  assert.deepEqual(
    turn.saga.steps.map(({ stepId }) => stepId),
    ['onCall@2', 'classify@2'],
    'a person and the model are asked at once, in the second turn',
  );
  return turn.saga;
}

async function answer(
  server: ServerProcess,
  saga: SuspendedSaga,
  answers: readonly CompletedStep[],
): Promise<ClientTurn> {
  const turn = await SuspendedSaga.from(await connect(server.url), saga).resume(answers);
  tell(server, turn);
  return turn;
}

const decides = (stepId: string, verdict: string): CompletedStep => ({
  stepId,
  result: { action: 'accept', content: { verdict } },
});
const declines = (stepId: string): CompletedStep => ({ stepId, result: { action: 'decline' } });
const classifies = (text: string): CompletedStep => ({
  stepId: 'classify@2',
  result: { role: 'assistant', model: 'any', content: { type: 'text', text } },
});

// Incident 1: both answers arrive together, in time.
const checkout = await report(a, 'checkout', 'errors at 40 %');
const taken = await answer(b, checkout, [decides('onCall@2', 'taken'), classifies('high')]);
assert.equal(textOf(taken), 'checkout is taken care of in room-1, severity high.');
assert.deepEqual(operations.failedOver, ['checkout']);

// Incident 2: the model answers at once, and the person on call ten minutes later.
const search = await report(a, 'search', 'answers are slow');
const classified = await answer(b, search, [classifies('low')]);
assert(classified.status === 'suspended');
const escalated = await answer(later, classified.saga, [decides('onCall@2', 'false alarm')]);
assert(escalated.status === 'suspended', 'a late answer of the person on call is ignored');
const [question] = escalated.saga.steps;
assert.match(question?.stepId ?? '', /^manager/);
const managed = await answer(later, escalated.saga, [decides(question?.stepId ?? '', 'taken')]);
assert.equal(textOf(managed), 'search is taken care of in room-2, severity low.');

// Incident 3: the person on call declines, the model gives no severity, and the manager reports a
// false alarm.
const mail = await report(b, 'mail', 'the queue is empty');
const passed = await answer(a, mail, [declines('onCall@2'), classifies('That depends.')]);
assert(passed.status === 'suspended');
const asked = passed.saga.steps.map(({ stepId }) => stepId);
assert.equal(asked.length, 1);
const undone = await answer(b, passed.saga, [decides(asked[0] ?? '', 'false alarm')]);
assert.match(textOf(undone), /mail: a false alarm/);
assert.match(textOf(undone), /Undone: 'room' \(the room for mail\)/);

assert.deepEqual(
  [...operations.rooms],
  [
    ['room-1', 'checkout'],
    ['room-2', 'search'],
  ],
);
assert.equal(operations.opened, 3, 'each room was opened once');
assert.deepEqual(operations.failedOver, ['checkout'], 'and nothing else was failed over');

await Promise.all([a.stop(), b.stop(), later.stop(), operations.stop()]);
console.log('\nThree incidents, three rooms. The room of the false alarm is closed.');
