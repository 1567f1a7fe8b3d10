/**
 * Serves one saga over HTTP with a guard, and answers its question. In the bundle of `trace.ts`,
 * each function of the packages reports that it is entered; so do the steps of the author here. One
 * answer, one step, one question. Prints what the second such request enters, as JSON: what runs at
 * first use only does not count.
 */
import { elicit, generateKey, memoryStore, saga, step, type SagaStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { z } from 'zod';
import { ask } from '../../packages/server/test/fixtures/raw.ts';
import type { Entered, Trace } from './trace.ts';

let entered: Entered[] = [];
let beforeStep: readonly Entered[] = [];
let requests: string[] = [];

(globalThis as { onEnter?: (file: string, name: string) => void }).onEnter = (file, name) => {
  entered.push({ file, name });
};

const Name = z.object({ name: z.string() });

const greet = saga({ name: 'greet', version: '1' }, function* () {
  const first = yield* elicit('first', { message: 'First name?', schema: Name });
  yield* step('note', () => {
    beforeStep = entered.slice();
    return first.name;
  });
  const last = yield* elicit('last', { message: 'Last name?', schema: Name });
  return `${first.name} ${last.name}`;
});

/** Notes each request to the store. */
function counted(store: SagaStore): SagaStore {
  return new Proxy(store, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function' || name === 'remembersSince') return member;
      return (...values: readonly unknown[]): unknown => {
        requests.push(String(name));
        return member.apply(target, values) as unknown;
      };
    },
  });
}

const server = serveSagas({
  name: 'traced',
  version: '1',
  sagas: [greet],
  keys: [generateKey()],
  store: counted(memoryStore({ olderTokens: 'accept' })),
});

async function send(method: string, params: object): Promise<Record<string, unknown>> {
  const { last, text } = await ask(server, 'modern', method, params);
  if (last.result?.['state'] !== 'suspended') throw new Error(text);
  return last.result;
}

async function answerOnce(): Promise<void> {
  const { sagaToken } = await send('tools/callSaga', { name: 'greet', arguments: {} });
  entered = [];
  requests = [];
  await send('tools/resumeSaga', {
    sagaToken,
    completedSteps: [{ stepId: 'first', result: { action: 'accept', content: { name: 'Ada' } } }],
  });
}

await answerOnce();
await answerOnce();
const trace: Trace = { beforeStep, all: entered, requests };
console.log(JSON.stringify(trace));
// The server keeps no process alive, but a timer of a queue might.
process.exit();
