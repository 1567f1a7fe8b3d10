import {
  AnswerConflict,
  createSagaHost,
  generateKey,
  memoryStore,
  ReplayMismatch,
} from '@mcp-saga/server';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { failingGuard } from './fixtures/failing-guard.ts';
import { suspended } from './fixtures/host.ts';
import type * as Server from '../src/index.ts';

const hooks = { onError: () => undefined, onTurn: () => undefined };

/** A saga and its host may have different copies of the packages, such as two versions. */
async function importAgain(): Promise<typeof Server> {
  vi.resetModules();
  return await import('../src/index.ts');
}

const asked = { message: 'Go?', schema: z.object({ ok: z.boolean() }) };
const answer = (ok: boolean) => [{ stepId: 'go', result: { action: 'accept', content: { ok } } }];

describe('a saga of another copy of the package', () => {
  it('[E1] undoes nothing if a commit fails', async () => {
    const { poll, saga, step } = await importAgain();
    const did: string[] = [];
    const pay = saga({ name: 'pay', version: '1' }, function* () {
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* poll('cleared', () => ({ done: true, value: true }), {
        every: 1000,
        timeout: 60_000,
      });
      return yield* step('ship', () => 'shipped');
    });
    let isDown = false;
    const store = failingGuard(() => isDown && did.length > 0);
    const host = createSagaHost({
      sagas: [pay],
      name: 'shop',
      keys: generateKey(),
      store,
      starts: { unkeyed: 'handshake' },
      hooks,
    });
    const { token } = suspended(await host.start('pay', {}));
    isDown = true;
    await expect(host.resume(token)).rejects.toMatchObject({ code: 'guard_down' });
    expect(did).toEqual(['charge']);
    isDown = false;
    expect(await host.resume(token)).toMatchObject({ status: 'completed', result: 'shipped' });
    expect(did).not.toContain('refund');
  });

  it('[R3] keeps its token if the code does not match the journal', async () => {
    const { elicit, saga, step } = await importAgain();
    const keys = generateKey();
    const hostFor = (id: string) => {
      const go = saga({ name: 'go', version: '1', reuse: 'ok', onMismatch: 'fail' }, function* () {
        yield* step(id, () => 1);
        yield* elicit('go', asked);
        return 'gone';
      });
      return createSagaHost({ sagas: [go], name: 'shop', keys, hooks });
    };
    const { token } = suspended(await hostFor('before').start('go', {}));
    await expect(hostFor('after').resume(token, answer(true))).rejects.toBeInstanceOf(
      ReplayMismatch,
    );
    expect(await hostFor('before').resume(token, answer(true))).toMatchObject({ result: 'gone' });
  });

  it('reports another answer to an answered question', async () => {
    const { all, elicit, saga } = await importAgain();
    const two = saga({ name: 'two', version: '1', reuse: 'ok' }, function* () {
      yield* all({ go: elicit('go', asked), stay: elicit('stay', asked) });
      return 'both';
    });
    const host = createSagaHost({ sagas: [two], name: 'shop', keys: generateKey(), hooks });
    const first = suspended(await host.start('two', {}));
    const second = suspended(await host.resume(first.token, answer(true)));
    await expect(host.resume(second.token, answer(false))).rejects.toBeInstanceOf(AnswerConflict);
  });

  it('[R2] gets errors of its own classes in the body', async () => {
    const { all, elicit, ElicitationRefused, saga, SagaError, step, StepError, StepTimedOut } =
      await importAgain();
    const caught: string[] = [];
    class OwnError extends SagaError {}
    const careful = saga({ name: 'careful', version: '1', reuse: 'ok' }, function* () {
      try {
        yield* step('fail', () => {
          throw new SagaError('no money', { code: 'poor' });
        });
      } catch (error) {
        if (error instanceof StepError) caught.push(String(error.code));
        if (error instanceof OwnError || error instanceof StepTimedOut) caught.push('wrong');
      }
      try {
        yield* all({ go: elicit('go', asked) });
      } catch (error) {
        if (error instanceof ElicitationRefused) caught.push(error.action);
      }
      return 'done';
    });
    const host = createSagaHost({ sagas: [careful], name: 'shop', keys: generateKey(), hooks });
    const { token } = suspended(await host.start('careful', {}));
    const declined = [{ stepId: 'go', result: { action: 'decline' } }];
    expect(await host.resume(token, declined)).toMatchObject({ result: 'done' });
    // Each replay throws the error of the step again.
    expect(new Set(caught)).toEqual(new Set(['poor', 'decline']));
  });

  it('[E9] has an unknown outcome if its step says so', async () => {
    const { OutcomeUnknown, saga, step } = await importAgain();
    const pay = saga({ name: 'pay', version: '1' }, function* () {
      yield* step(
        'charge',
        () => {
          throw new OutcomeUnknown('the response was lost');
        },
        { compensate: () => undefined },
      );
      return 'paid';
    });
    const host = createSagaHost({
      sagas: [pay],
      name: 'shop',
      keys: generateKey(),
      store: memoryStore(),
      starts: { unkeyed: 'run' },
      hooks,
    });
    expect(await host.start('pay', {})).toMatchObject({
      status: 'failed',
      uncompensated: [{ stepId: 'charge' }],
    });
  });

  it('fails if it forgets to yield a question', async () => {
    const { elicit, saga, step } = await importAgain();
    const forgetful = saga({ name: 'forgetful', version: '1', reuse: 'ok' }, function* () {
      elicit('go', asked);
      return yield* step('act', () => 'acted');
    });
    const host = createSagaHost({ sagas: [forgetful], name: 'shop', keys: generateKey(), hooks });
    expect(await host.start('forgetful', {})).toMatchObject({
      status: 'failed',
      error: { code: 'never_yielded' },
    });
  });

  it('waits for answers from outside', async () => {
    const { approval, saga } = await importAgain();
    let link = '';
    const ask = saga({ name: 'ask', version: '1', reuse: 'ok' }, function* () {
      const { approved } = yield* approval('manager', {
        message: 'Approve?',
        link: 'accept',
        timeout: '1m',
        deliver: ({ url }) => void (link = url),
      });
      return approved ? 'approved' : 'denied';
    });
    const host = createSagaHost({
      sagas: [ask],
      name: 'shop',
      keys: generateKey(),
      url: 'https://shop.example',
      store: memoryStore(),
      limits: { maxHold: 0 },
      hooks,
    });
    const { token } = suspended(await host.start('ask', {}));
    suspended(await host.resume(token));
    expect(link).toContain('https://shop.example/');
  });

  it('fails with the error of another server, which may have the code of a mismatch', async () => {
    const { now, saga } = await importAgain();
    const call = saga({ name: 'call', version: '1', reuse: 'ok' }, function* () {
      if ((yield* now()) > 0)
        throw Object.assign(new Error('elsewhere'), { code: 'replay_mismatch' });
      return 'called';
    });
    const host = createSagaHost({ sagas: [call], name: 'shop', keys: generateKey(), hooks });
    expect(await host.start('call', {})).toMatchObject({
      status: 'failed',
      error: { message: 'elsewhere' },
    });
  });
});
