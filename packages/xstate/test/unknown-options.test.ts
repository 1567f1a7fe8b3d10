import { elicit, elicitUrl, machineSaga, sample, step, toMermaid } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { z } from 'zod';

const schema = z.object({ ok: z.boolean() });
const machine = createMachine({ id: 'm' });
const one = (): number => 1;

/** Options as JavaScript gives them. */
const js = (options: object): never => options as never;
const ofSaga = (options: object) =>
  machineSaga(js({ name: 'm', version: '1', ...options }), machine as never);

const misspelled: readonly (readonly [
  make: () => unknown,
  option: string,
  meant: string | undefined,
])[] = [
  [() => ofSaga({ inputSchema: schema }), 'inputSchema', 'input'],
  [() => ofSaga({ dirft: 'refuse' }), 'dirft', 'drift'],
  [() => ofSaga({ migrat: one }), 'migrat', 'migrate'],
  [() => ofSaga({ zebra: 1 }), 'zebra', undefined],
  [() => elicit(js({ message: 'Well?', schema, fallBack: {} })), 'fallBack', 'fallback'],
  [() => elicit(js({ message: 'Well?', schema, ttl: 5 })), 'ttl', undefined],
  [() => elicit.outcome(js({ mesage: 'Well?', schema })), 'mesage', 'message'],
  [() => elicitUrl(js({ message: 'Go', uri: 'https://a.example' })), 'uri', 'url'],
  [() => sample(js({ message: [], maxTokens: 1 })), 'message', 'messages'],
  [() => sample(js({ messages: [], maxTokens: 1, prase: one })), 'prase', 'parse'],
  [() => step(one, js({ compesate: one })), 'compesate', 'compensate'],
  [() => step(one, js({ input: 5 })), 'input', undefined],
  [() => step(one, js({ compensate: one, undo: { retyr: 5 } })), 'retyr', 'retry'],
  [() => toMermaid(machine, js({ vlaue: 'a' })), 'vlaue', 'value'],
];

describe('an unknown option', () => {
  it.each(misspelled)('is refused, and the right name is suggested: %s', (make, option, meant) => {
    const hint = meant === undefined ? ` Its options are: ` : ` Did you mean '${meant}'?`;
    expect(make).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(make).toThrow(`has no option '${option}'.${hint}`);
  });

  it.each([undefined, null, 5, 'text'])(
    'does not hide that %j is not an options object',
    (options) => {
      const words: readonly unknown[] = [elicit, elicitUrl, sample];
      for (const word of words)
        expect(() => (word as (given: unknown) => unknown)(options)).toThrow(
          expect.objectContaining({ code: 'authoring_error' }),
        );
      expect(() => machineSaga(options as never, machine as never)).toThrow(
        expect.objectContaining({ code: 'authoring_error' }),
      );
    },
  );
});
