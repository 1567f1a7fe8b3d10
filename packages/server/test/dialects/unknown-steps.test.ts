import { all, continueAs, elicit, memoryStore, race, saga, sleep } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { served, type Served } from '../fixtures/calling.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { asking, Target } from '../fixtures/sagas.ts';

const key = 'io.github.mcp-saga/saga';
const accept = (stepId: string): object => ({
  stepId,
  result: { action: 'accept', content: { target: stepId } },
});

describe.each(eras)('completedSteps, %s', (era) => {
  const begin = async (
    program: Parameters<typeof served>[0][number],
    options: Parameters<typeof served>[1] = {},
  ) => {
    const { server, told, clock }: Served = served([program], options);
    const called = (await ask(server, era, 'tools/callSaga', { name: program.name })).last;
    let token = called.result?.['sagaToken'];
    const resume = async (...completedSteps: readonly object[]) => {
      const params = { sagaToken: token, completedSteps };
      const { result = {}, error } = (await ask(server, era, 'tools/resumeSaga', params)).last;
      expect(error).toBeUndefined();
      token = result['sagaToken'] ?? token;
      const { unknownSteps } = Object(Object(result['_meta'])[key]) as {
        readonly unknownSteps?: unknown;
      };
      return { result, unknownSteps };
    };
    return { resume, told, clock };
  };

  test.each([false, true])(
    '[W4] an unknown step ID is reported beside the open steps, with a store: %s',
    async (isStored) => {
      const { resume, told } = await begin(asking(), !isStored ? {} : { store: memoryStore() });
      const wrong = await resume(accept('Target'));
      expect(wrong.result).toMatchObject({ state: 'suspended', steps: [{ stepId: 'target' }] });
      expect(wrong.unknownSteps).toEqual(['Target']);
      expect(told.ignored).toEqual([{ stepId: 'Target', why: 'unknown' }]);
      // Nothing is lost: the same step takes its answer, and the wrong one is reported with the
      // result as well.
      const right = await resume(accept('Target'), accept('target'));
      expect(right.result).toMatchObject({ content: [{ text: 'target' }] });
      expect(right.unknownSteps).toEqual(['Target']);
    },
  );

  test('[W4] repeated answers and answers to open steps are not reported', async () => {
    const two = saga({ name: 'two', version: '1' }, function* () {
      yield* elicit('a', { message: 'A?', schema: Target });
      yield* all({
        b: elicit('b', { message: 'B?', schema: Target }),
        c: elicit('c', { message: 'C?', schema: Target }),
      });
      return 'done';
    });
    const { resume } = await begin(two);
    expect((await resume(accept('a'))).unknownSteps).toBeUndefined();
    expect((await resume(accept('a'), accept('b'))).unknownSteps).toBeUndefined();
    const last = await resume(accept('a'), accept('b'), accept('c'));
    expect(last.result).toMatchObject({ content: [{ text: 'done' }] });
    expect(last.unknownSteps).toBeUndefined();
  });

  test('[W4] a late answer, or an answer to an earlier generation, does not fail the turn', async () => {
    const next = saga({ name: 'next', version: '1' }, function* () {
      yield* elicit('b', { message: 'B?', schema: Target });
      return 'done';
    });
    const first = saga({ name: 'first', version: '1' }, function* () {
      yield* race({ a: elicit('a', { message: 'A?', schema: Target }), time: sleep(60_000) });
      return yield* continueAs(next, {});
    });
    const { server, clock }: Served = served([first, next]);
    const called = (await ask(server, era, 'tools/callSaga', { name: 'first' })).last;
    clock.now += 600_000;
    const late = { sagaToken: called.result?.['sagaToken'], completedSteps: [accept('a')] };
    const { result } = (await ask(server, era, 'tools/resumeSaga', late)).last;
    expect(result).toMatchObject({ steps: [{ stepId: 'b@1' }] });
    const last = { sagaToken: result?.['sagaToken'], completedSteps: [accept('a'), accept('b@1')] };
    expect((await ask(server, era, 'tools/resumeSaga', last)).last).toMatchObject({
      result: { content: [{ text: 'done' }] },
    });
  });
});
