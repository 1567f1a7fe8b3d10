import { SagaHostError } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { expect, test } from 'vitest';
import { hooksInto, hostOf, nothingTold, oldKey } from '../fixtures/host.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { asking } from '../fixtures/sagas.ts';
import { thrownBy } from '../fixtures/thrown-by.ts';
import { coreOf } from '../../src/saga-host.ts';

const sagas = [asking('close'), asking('open')];

test('lists the known sagas in the cause of the error for an unknown saga', async () => {
  const { host, told } = hostOf(sagas);
  const error = await thrownBy(SagaHostError, host.start('closed', {}));
  expect(error.message).toBe('Unknown saga: "closed"');
  expect(error.cause).toMatchObject({ public: false, message: "There are: 'close', 'open'." });
  expect(
    (await thrownBy(SagaHostError, coreOf(host).start('close', {}, {}, { serves: 'prompt' })))
      .cause,
  ).toMatchObject({
    message: 'There are: none.',
  });
  expect(
    (await thrownBy(SagaHostError, coreOf(host).start('x', {}, {}, { serves: 'tool' }))).cause,
  ).toMatchObject({
    message: "There are: 'close', 'open'.",
  });
  expect(told.warnings).toEqual([]);
});

test.each(eras)(
  'an unknown saga is logged with the known ones in development, and not sent in the %s era',
  async (era) => {
    for (const environment of ['development', 'production']) {
      const told = nothingTold();
      const { onWarning } = hooksInto(told);
      const server = serveSagas({
        name: 'a',
        version: '1',
        sagas,
        keys: oldKey,
        testing: { environment },
        hooks: { onWarning },
      });
      const { last, text } = await ask(server, era, 'tools/callSaga', {
        name: `clo\n${'x'.repeat(200)}`,
      });
      expect(last.error).toMatchObject({ code: -32602, data: { reason: 'unknown_saga' } });
      expect(text).not.toMatch(/There are|'close'|open/);
      const said = `Unknown tool: "clo\\n${'x'.repeat(124)}". There are: 'close', 'open'.`;
      expect(told.warnings).toEqual(environment === 'development' ? [said] : []);
    }
  },
);
