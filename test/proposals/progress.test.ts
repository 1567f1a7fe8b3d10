import { elicit, progress, saga, step } from '@mcp-saga/server';
import { expect } from 'vitest';
import { served } from '../../packages/server/test/fixtures/calling.ts';
import type { RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { Empty } from '../../packages/server/test/fixtures/sagas.ts';
import { exchange } from './exchange.ts';
import { testStatements } from './statement.ts';

const proposal = 'Progress';

const call = (name: string) => ({ method: 'tools/call', params: { name, arguments: {} } });

/** A tool that reports progress values, runs a step, and reports more values. */
const reporting = (...values: readonly number[]) =>
  saga({ name: 'reporting', version: '1' }, function* () {
    for (const value of values) yield* progress(value);
    return yield* step('work', () => 'worked');
  });

function toldIn(messages: readonly RawMessage[]): readonly unknown[] {
  return messages
    .filter(({ method }) => method === 'notifications/progress')
    .map(({ params }) => params);
}

function valuesIn(messages: readonly RawMessage[]): readonly number[] {
  return toldIn(messages).map((params) => (params as { readonly progress: number }).progress);
}

testStatements(proposal, [
  {
    level: 'example',
    says: 'a request with a progressToken is told progress, total and message, under that token',
    holds: async (era) => {
      const splines = saga({ name: 'splines', version: '1' }, function* () {
        yield* progress(50, 100, 'Reticulating splines...');
        return 'reticulated';
      });
      const { server } = served([splines]);
      const messages = await exchange(server, era, { ...call('splines'), progressToken: 'abc123' });
      expect(toldIn(messages)).toEqual([
        { progressToken: 'abc123', progress: 50, total: 100, message: 'Reticulating splines...' },
      ]);
      expect(messages.at(-1)).toMatchObject({
        id: 1,
        result: { content: [{ text: 'reticulated' }] },
      });
    },
  },
  {
    level: 'must',
    says: 'progress tokens are strings or integers, and come back as they are',
    holds: async (era) => {
      const { server } = served([reporting(1)]);
      for (const progressToken of ['7', 7, 0]) {
        const messages = await exchange(server, era, { ...call('reporting'), progressToken });
        expect(toldIn(messages)).toEqual([{ progressToken, progress: 1 }]);
      }
    },
  },
  {
    level: 'must',
    says: 'progress increases with each notification, whatever the tool reports',
    holds: async (era) => {
      const { server } = served([reporting(1, 1, 0.5, 2, -1, 2.5, 2)]);
      const messages = await exchange(server, era, { ...call('reporting'), progressToken: 'p' });
      expect(valuesIn(messages)).toEqual([1, 2, 2.5]);
    },
  },
  {
    level: 'must',
    says: 'progress increases over all turns of a saga, each under the token of its own request',
    holds: async (era) => {
      const moving = saga({ name: 'moving', version: '1' }, function* () {
        yield* progress(1);
        yield* elicit('one', { message: 'One?', schema: Empty });
        yield* progress(1);
        yield* progress(2);
        yield* elicit('two', { message: 'Two?', schema: Empty });
        yield* progress(3);
        return 'moved';
      });
      const { server } = served([moving]);
      const told: unknown[] = [];
      let sent: { readonly method: string; readonly params: Readonly<Record<string, unknown>> } = {
        method: 'tools/callSaga',
        params: { name: 'moving' },
      };
      for (const progressToken of ['a', 'b', 'c']) {
        const messages = await exchange(server, era, { ...sent, progressToken });
        told.push(...toldIn(messages));
        const { sagaToken, steps = [] } = (messages.at(-1)?.result ?? {}) as {
          readonly sagaToken?: string;
          readonly steps?: readonly { readonly stepId: string }[];
        };
        const result = { action: 'accept', content: {} };
        const completedSteps = steps.map(({ stepId }) => ({ stepId, result }));
        sent = { method: 'tools/resumeSaga', params: { sagaToken, completedSteps } };
      }
      expect(told).toEqual([
        { progressToken: 'a', progress: 1 },
        { progressToken: 'b', progress: 2 },
        { progressToken: 'c', progress: 3 },
      ]);
    },
  },
  {
    level: 'must',
    says: 'notifications refer to tokens of active requests only: without a token there are none',
    holds: async (era) => {
      const { server } = served([reporting(1, 2, 3)]);
      const messages = await exchange(server, era, call('reporting'));
      expect(toldIn(messages)).toEqual([]);
      expect(messages.at(-1)).toHaveProperty('result');
    },
  },
  {
    level: 'should',
    says: 'the rate is limited: of a thousand values in one moment ten are sent, and the last',
    holds: async (era) => {
      const values = Array.from({ length: 1_000 }, (_, index) => index + 1);
      const { server } = served([reporting(...values)]);
      const messages = await exchange(server, era, { ...call('reporting'), progressToken: 'p' });
      expect(valuesIn(messages)).toEqual([...values.slice(0, 10), 1_000]);
    },
  },
  {
    level: 'must',
    says: 'notifications stop after completion: the response is the last message',
    holds: async (era) => {
      const { server } = served([reporting(...Array.from({ length: 50 }, (_, index) => index))]);
      const messages = await exchange(server, era, { ...call('reporting'), progressToken: 'p' });
      expect(messages.filter(({ id }) => id === 1)).toHaveLength(1);
      expect(messages.at(-1)).toMatchObject({ id: 1, result: { content: [{ text: 'worked' }] } });
    },
  },
]);
