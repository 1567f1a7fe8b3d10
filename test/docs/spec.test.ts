import { readFileSync } from 'node:fs';
import {
  abort,
  all,
  elicit,
  elicitUrl,
  listRoots,
  memoryStore,
  saga,
  sample,
  sleep,
  step,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { served } from '../../packages/server/test/fixtures/calling.ts';
import { eras } from '../../packages/server/test/fixtures/raw.ts';
import { respond } from '../proposals/exchange.ts';
import { read } from './markdown.ts';
import { generateSchema } from './spec/generate.ts';
import { schemaFile } from './spec/schema-file.ts';
import { validateExchange } from './spec/validate-exchange.ts';
import { problemsOf } from './spec/validate.ts';

const page = read('docs/spec/index.md');
const messages = [...page.matchAll(/<!-- message: (\w+) -->\s*```json\n([\s\S]*?)```/g)].map(
  ([, name = '', text = '']) => [name, JSON.parse(text) as unknown] as const,
);

const Sure = z.object({ sure: z.boolean() });
const everything = saga({ name: 'everything', version: '1' }, function* () {
  yield* step('reserve', () => 'r1', { compensate: () => undefined, label: 'the reservation' });
  yield* sleep(60_000);
  yield* all({
    form: elicit('form', { message: 'Sure?', schema: Sure }),
    url: elicitUrl('url', { message: 'Sign in', url: 'https://app.example/' }),
    roots: listRoots('roots'),
    model: sample('model', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }],
      maxTokens: 9,
    }),
  });
  yield* abort('Enough.');
  return 'never';
});

describe('the specification of the saga methods', () => {
  it('has the schema that its types generate', () => {
    expect(generateSchema()).toEqual(JSON.parse(readFileSync(schemaFile, 'utf8')));
  });

  it('shows a message of each kind', () => {
    const kinds = ['CallSaga', 'ResumeSaga', 'CancelSaga'].map((name) => `${name}Request`);
    const shown = new Set(messages.map(([name]) => name));
    for (const kind of [
      ...kinds,
      'SagaResponse',
      'CancelSagaResponse',
      'SagaErrorResponse',
      'SagaCapability',
    ])
      expect(shown).toContain(kind);
  });

  it.each(messages)('shows a valid %s', (name, message) => {
    expect(problemsOf(name, message)).toEqual([]);
  });

  it('names only definitions of the schema', () => {
    const { $defs } = JSON.parse(readFileSync(schemaFile, 'utf8')) as { readonly $defs: object };
    const named = [...page.matchAll(/`([A-Z][A-Za-z]+)`/g)].map(([, name]) => name);
    const ofMcp = ['CallToolResult'];
    expect(named.filter((name = '') => !(name in $defs) && !ofMcp.includes(name))).toEqual([]);
  });

  it.each(eras)(
    'applies to every kind of step, a wait, an abort, and a cancellation (%s)',
    async (era) => {
      const { server, clock } = served([everything], {
        store: memoryStore({ clock: () => clock() }),
      });
      const call = { method: 'tools/callSaga', params: { name: 'everything' } };
      const resume = async (sagaToken: unknown, completedSteps: readonly object[] = []) =>
        await respond(server, era, {
          method: 'tools/resumeSaga',
          params: { sagaToken, completedSteps },
        });

      const begun = await respond(server, era, call);
      expect(begun.result).toMatchObject({ state: 'suspended', steps: [], retryAfterMs: 0 });
      const waiting = await resume(begun.result?.['sagaToken']);
      expect(waiting.result).toMatchObject({ state: 'suspended', steps: [], retryAfterMs: 60_000 });
      clock.now += 60_000;
      const asking = await resume(waiting.result?.['sagaToken']);
      expect(asking.result).toMatchObject({ steps: [{}, {}, {}, {}] });
      const form = { stepId: 'form', result: { action: 'accept', content: { sure: true } } };
      const fewer = await resume(asking.result?.['sagaToken'], [form]);
      expect(fewer.result).toMatchObject({
        steps: [{ stepId: 'url' }, { stepId: 'roots' }, { stepId: 'model' }],
      });
      const sampled = { role: 'assistant', model: 'm', content: { type: 'text', text: 'Yes' } };
      const ended = await resume(fewer.result?.['sagaToken'], [
        form,
        { stepId: 'url', result: { action: 'accept' } },
        { stepId: 'roots', result: { roots: [{ uri: 'file:///home' }] } },
        { stepId: 'model', result: sampled },
      ]);
      expect(ended.result).toMatchObject({
        isError: true,
        _meta: { 'io.github.mcp-saga/saga': { compensated: [{ stepId: 'reserve' }] } },
      });

      const other = await respond(server, era, call);
      const params = { sagaToken: other.result?.['sagaToken'], reason: 'Closed' };
      const cancelled = await respond(server, era, { method: 'tools/cancelSaga', params });
      expect(cancelled.result).toMatchObject({ isError: true });
    },
  );

  it('has a schema that rejects invalid exchanges', () => {
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/callSaga', params: { name: 'x' } };
    const answer = (result: object): object => ({ jsonrpc: '2.0', id: 1, result });
    expect(() => validateExchange(request, answer({ content: [] }))).not.toThrow();
    for (const wrong of [
      { state: 'suspended', steps: [] },
      { state: 'suspended', sagaToken: 't' },
      {},
    ])
      expect(() => validateExchange(request, answer(wrong))).toThrow('does not fit');
    const formless = { type: 'elicitation', stepId: 'a', params: { message: 'No form' } };
    const suspended = answer({ state: 'suspended', sagaToken: 't', steps: [formless] });
    expect(() => validateExchange(request, suspended)).toThrow('requestedSchema');
    const neither = {
      ...request,
      method: 'tools/resumeSaga',
      params: { sagaToken: 't', completedSteps: [{ stepId: 'a' }] },
    };
    expect(() => validateExchange(neither, answer({ content: [] }))).toThrow('does not fit');
  });
});
