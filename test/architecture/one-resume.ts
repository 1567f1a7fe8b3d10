/**
 * Prints what one guarded resume enters, as JSON: `files`, the source files of the packages whose
 * functions run, and `frames`, how many functions of the host are on the stack when core is
 * entered. One answer, one step, one question.
 */
import { Session } from 'node:inspector/promises';
import {
  createSagaHost,
  elicit,
  generateKey,
  memoryGuard,
  saga,
  step,
  type Program,
} from '@mcp-saga/server';
import { z } from 'zod';

const Name = z.object({ name: z.string() });
const frames: string[] = [];

const greet = saga({ name: 'greet', version: '1', forks: 'refuse' }, function* () {
  const first = yield* elicit('first', { message: 'First name?', schema: Name });
  yield* step('note', () => first.name);
  const last = yield* elicit('last', { message: 'Last name?', schema: Name });
  return `${first.name} ${last.name}`;
});

const watched = new Proxy<Program>(greet, {
  get: (target, name) => {
    if (name !== 'advance') return Reflect.get(target, name, target) as unknown;
    return (...args: Parameters<Program['advance']>) => {
      Error.stackTraceLimit = 100;
      frames.splice(0, frames.length, ...(new Error('here').stack ?? '').split('\n'));
      return target.advance(...args);
    };
  },
});

const host = createSagaHost({
  sagas: [watched],
  keys: [generateKey()],
  audience: 'urn:example:architecture',
  guard: { store: memoryGuard() },
});

const run = async (): Promise<(name: string) => Promise<unknown>> => {
  const turn = await host.start('greet', {});
  if (turn.status !== 'suspended') throw new Error(`The saga is ${turn.status}`);
  const { token } = turn;
  return (name) =>
    host.resume(token, [{ stepId: 'first', result: { action: 'accept', content: { name } } }]);
};

// Once before: what runs at first use only does not count.
await (
  await run()
)('Ada');
const resume = await run();
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
await session.post('Profiler.takePreciseCoverage');
await resume('Grace');
const { result } = await session.post('Profiler.takePreciseCoverage');
const files = result
  .filter(({ url, functions }) => /\/packages\/[a-z]+\/src\//.test(url) && functions.some(entered))
  .map(({ url }) => url.replace(/^.*\/packages\//, '').replace(/\?.*$/, ''));
const onStack = frames.filter((line) => line.includes('/packages/server/src/'));
console.log(
  JSON.stringify({
    files: files.toSorted(),
    frames: onStack.map((line) => line.trim().split(' (')[0]),
  }),
);

function entered({
  functionName,
  ranges,
}: {
  functionName: string;
  ranges: { count: number }[];
}): boolean {
  return functionName !== '' && ranges.some(({ count }) => count > 0);
}
