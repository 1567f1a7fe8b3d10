import { expect, test } from 'vitest';
import { callSaga, SagaRoundsExceeded } from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { form, ScriptedServer, suspended } from './fixtures/scripted-server.ts';
import { thrownBy } from './fixtures/thrown-by.ts';

const call = { name: 'ship' };
const yes = { action: 'accept', content: { value: 'yes' } } as const;

test.for(connections)(
  'reports the reasons if every round rejects the same answer: $name',
  async ({ connect }) => {
    const refused = { reason: 'Too big: expected number to be <=8' };
    const server = new ScriptedServer([
      suspended('t1', [form('seats'), form('name')]),
      suspended('t2', [form('seats', { reason: 'seats: expected a number' })]),
      suspended('t3', [
        form('seats', refused),
        form('meal'),
        form('menu', { reason: `not as t3 ${'x'.repeat(999)}` }),
      ]),
    ]);
    const { client, close } = await connect(server);
    const handlers = { elicitation: () => yes };

    const error = await thrownBy(
      SagaRoundsExceeded,
      callSaga(client, call, { handlers, maxRounds: 2 }),
    );

    const [first, second, ...more] = error.message.split('; the answer to ');
    expect([first, second]).toEqual([
      'The saga is still suspended after 2 rounds',
      "'seats' was rejected: Too big: expected number to be <=8",
    ]);
    expect(more).toEqual([expect.stringMatching(/^'menu' was rejected: not as <token> x{485}$/)]);
    await close();
  },
);
