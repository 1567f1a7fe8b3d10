import { engineOf } from '@mcp-saga/core/program';
import { ClientCannot } from '@mcp-saga/core';
import type { CommitPoint, CommittedTurn, Question, Route } from '@mcp-saga/core/program';
import {
  elicit,
  elicitUrl,
  isCancelled,
  isDeclined,
  isInvalid,
  isRefused,
  listRoots,
  machineSaga,
  sample,
  step,
  stepError,
} from '@mcp-saga/xstate';
import { assign, createActor, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runtimeOf } from '../../core/test/support/world.ts';
import { accept, Drive, failureOf, said } from './support/drive.ts';

const Name = z.object({ name: z.string() });

/** A machine that runs one step, and says what became of it. */
function oneStep(logic: object, input?: unknown) {
  const machine = setup({
    types: { context: {} as { told: string }, output: {} as string },
    actors: { it: logic as ReturnType<typeof listRoots> },
    guards: { isDeclined, isCancelled, isRefused, isInvalid },
  }).createMachine({
    id: 'one',
    context: { told: '' },
    initial: 'doing',
    states: {
      doing: {
        invoke: {
          id: 'it',
          src: 'it',
          input: () => input as undefined,
          onDone: {
            target: 'done',
            actions: assign({ told: ({ event }) => JSON.stringify(event.output) ?? 'nothing' }),
          },
          onError: [
            { guard: 'isDeclined', target: 'done', actions: assign({ told: 'declined' }) },
            { guard: 'isCancelled', target: 'done', actions: assign({ told: 'cancelled' }) },
            { guard: 'isInvalid', target: 'done', actions: assign({ told: 'invalid' }) },
            {
              target: 'done',
              actions: assign({
                told: ({ event }) =>
                  `${stepError(event)?.reason} ${String(stepError(event)?.code)}`,
              }),
            },
          ],
        },
      },
      done: { type: 'final' },
    },
    output: ({ context }) => context.told,
  });
  return new Drive(machineSaga({ name: 'one', version: '1', reuse: 'ok' }, machine));
}

describe('a step of a machine', () => {
  it.each([
    [
      'elicitation',
      elicit({ message: 'Who?', schema: Name }),
      accept({ name: 'Ada' }),
      '{"name":"Ada"}',
    ],
    [
      'elicitation declined',
      elicit({ message: 'Who?', schema: Name }),
      { action: 'decline' },
      'declined',
    ],
    [
      'elicitation dismissed',
      elicit({ message: 'Who?', schema: Name }),
      { action: 'cancel' },
      'cancelled',
    ],
    [
      'elicitation.outcome',
      elicit.outcome({ message: 'Who?', schema: Name }),
      { action: 'decline' },
      '{"action":"decline"}',
    ],
    [
      'elicitationUrl',
      elicitUrl({ message: 'Go', url: 'https://a.example' }),
      { action: 'accept' },
      'nothing',
    ],
    ['roots', listRoots(), { roots: [{ uri: 'file:///a' }] }, '[{"uri":"file:///a"}]'],
    ['sampling', sample({ messages: [], maxTokens: 5 }), said('yes'), JSON.stringify(said('yes'))],
    [
      'sampling that is parsed',
      sample({ messages: [], maxTokens: 5, parse: ({ model }) => model }),
      said('yes'),
      '"m"',
    ],
    [
      'sampling that cannot be parsed',
      sample({
        messages: [],
        maxTokens: 5,
        parse: () => {
          throw new Error('no');
        },
      }),
      said('yes'),
      'invalid',
    ],
  ])('[R1] %s is answered by the client', async (_, logic, answer, told) => {
    const drive = oneStep(logic);
    await drive.start();
    expect(drive.asked).toEqual(['it']);
    expect(await drive.resume({ it: answer })).toMatchObject({ status: 'completed', result: told });
  });

  it('[W4] an invalid answer is asked again with the reason', async () => {
    const drive = oneStep(elicit({ message: 'Who?', schema: Name }));
    await drive.start();
    await drive.resume({ it: accept({ name: 7 }) });
    expect(drive.suspended.steps).toMatchObject([
      { stepId: 'it', reason: 'name: expected string' },
    ]);
    expect(drive.suspended.ignored).toEqual([{ stepId: 'it', why: 'invalid' }]);
    expect(await drive.resume({ it: accept({ name: 'Ada' }) })).toMatchObject({
      status: 'completed',
    });
  });

  it('[W4] an error of the client is thrown as a StepError', async () => {
    const drive = oneStep(listRoots());
    await drive.start();
    const answers = new Map([
      ['it', { error: { code: -7, message: 'no' }, provenance: 'client' as const }],
    ]);
    const outcome = await engineOf(drive.program).advance(
      drive.suspended.state,
      answers,
      runtimeOf(drive.world),
    );
    expect(outcome).toMatchObject({ status: 'completed', result: 'client -7' });
  });

  it('[T6] an answer to a changed question is dropped', async () => {
    let message = 'Who?';
    const drive = oneStep(elicit({ message: () => message, schema: Name }));
    await drive.start();
    message = 'Who is it?';
    await drive.resume({ it: accept({ name: 'Ada' }) });
    expect(drive.suspended.ignored).toEqual([{ stepId: 'it', why: 'asked otherwise' }]);
    expect(drive.suspended.steps[0]?.params).toMatchObject({ message: 'Who is it?' });
  });

  it('[T14] an answer from the model is asked again if only the client may answer', async () => {
    const drive = oneStep(
      elicit({ message: 'Who?', schema: Name, answeredBy: ['client', 'fallback'] }),
    );
    await drive.start();
    await drive.resume({ it: accept({ name: 'Ada' }) }, { replace: { accepts: () => false } });
    expect(drive.suspended.ignored).toEqual([{ stepId: 'it', why: 'not accepted' }]);
  });

  it('[W3] a step fails with ClientCannot if the client lacks the capability', async () => {
    const drive = oneStep(listRoots());
    const outcome = await drive.start({}, { replace: { route: () => 'cannot' } });
    expect(outcome).toMatchObject({ status: 'completed', result: 'client client_cannot' });
    const alone = setup({
      types: { output: {} as string },
      actors: { roots: listRoots() },
    }).createMachine({
      initial: 'a',
      states: { a: { invoke: { id: 'it', src: 'roots' } } },
    });
    const failing = new Drive(machineSaga({ name: 'one', version: '1' }, alone));
    const { error } = failureOf(await failing.start({}, { replace: { route: () => 'cannot' } }));
    expect(error).toBeInstanceOf(ClientCannot);
  });

  it('[W3] a fallback or the host answers if the client lacks the capability', async () => {
    const asks = elicit({
      message: 'Who?',
      schema: Name,
      fallback: ({ idempotencyKey }) => ({ name: idempotencyKey }),
    });
    const told = await oneStep(asks).start({}, { replace: { route: () => 'fallback' } });
    expect(told).toMatchObject({ status: 'completed', result: '{"name":"do:it"}' });
    const samples = oneStep(sample({ messages: [], maxTokens: 5, parse: ({ model }) => model }));
    const sampled = await samples.start(
      {},
      { replace: { route: () => 'host', sample: () => said('x') as never } },
    );
    expect(sampled).toMatchObject({ status: 'completed', result: '"m"' });
    const broken = oneStep(
      elicit({
        message: 'Who?',
        schema: Name,
        fallback: () => {
          throw new Error('none');
        },
      }),
    );
    expect(await broken.start({}, { replace: { route: () => 'fallback' } })).toMatchObject({
      result: 'failed step_failed',
    });
  });

  it('[W3] a fallback answers if the client rejects the request as unknown', async () => {
    const asks = elicit({ message: 'Who?', schema: Name, fallback: { name: 'Ann' } });
    const drive = oneStep(asks);
    const route = ({ isUnsupported }: Question): Route =>
      isUnsupported === true ? 'fallback' : 'ask';
    await drive.start({}, { replace: { route } });
    const { state } = drive.suspended;
    const error = { code: -32_601, message: 'Method not found' };
    const answers = new Map([['it', { error, provenance: 'client' } as const]]);
    const turn = { budget: 1_000_000, maxHold: 0, turn: 2, replace: { route } };
    expect(
      await engineOf(drive.program).advance(state, answers, runtimeOf(drive.world, turn)),
    ).toMatchObject({
      status: 'completed',
      result: '{"name":"Ann"}',
    });
  });

  it('[W1] an invalid question is rejected at its definition', () => {
    const schema = z.object({ a: z.object({}) }) as never;
    expect(() => elicit({ message: 'Who?', schema })).toThrow(
      "the form field 'a' is an object inside the form",
    );
    expect(() => elicit.outcome({ message: 'Who?', schema })).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => elicit({ message: 'Who?', schema: {} as never })).toThrow('needs a schema');
    expect(() => sample({ messages: [], maxTokens: 1.5 })).toThrow('maxTokens');
    expect(() => sample({ messages: [], maxTokens: 1, answeredBy: ['model'] })).toThrow(
      'answeredBy',
    );
  });

  it('[E2] an effect is retried, and its error is a StepError', async () => {
    const seen: string[] = [];
    const flaky = step(
      ({
        attempt,
        idempotencyKey,
        input,
      }: {
        attempt: number;
        idempotencyKey: string;
        input: { n: number };
      }) => {
        seen.push(`${attempt} ${idempotencyKey} ${input.n}`);
        if (attempt < 3) throw new Error('again');
        return { at: new Date(7) };
      },
      { retry: { attempts: 3, delay: 10, jitter: false } },
    );
    const drive = oneStep(flaky, { n: 7 });
    const outcome = await drive.start({}, { maxHold: 1_000 });
    expect(outcome).toMatchObject({
      status: 'completed',
      result: '{"at":"1970-01-01T00:00:00.007Z"}',
    });
    expect(seen).toEqual(['1 do:it 7', '2 do:it 7', '3 do:it 7']);
    const fails = step(() => {
      throw Object.assign(new Error('secret'), { code: 'E_X' });
    });
    expect(await oneStep(fails).start()).toMatchObject({ result: 'failed E_X' });
  });

  it('[E2] a backoff longer than the turn suspends the saga', async () => {
    const attempts: string[] = [];
    const flaky = step(
      ({ attempt, idempotencyKey }) => {
        attempts.push(`${attempt} ${idempotencyKey}`);
        if (attempt < 2) throw new Error('again');
        return 'done';
      },
      { retry: { attempts: 2, delay: 5_000, jitter: false } },
    );
    const drive = oneStep(flaky);
    await drive.start();
    expect(drive.suspended).toMatchObject({ steps: [], retryAfterMs: 5_000 });
    await drive.resume();
    expect(drive.suspended.retryAfterMs).toBe(5_000);
    drive.world.time += 5_000;
    expect(await drive.resume()).toMatchObject({ status: 'completed', result: '"done"' });
    expect(attempts).toEqual(['1 do:it', '2 do:it']);
  });

  it('[U4] an effect without time in the budget waits for the next turn', async () => {
    let ran = 0;
    const drive = oneStep(step(() => (ran += 1)));
    await drive.start({}, { budget: 0 });
    expect(drive.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(ran).toBe(0);
    expect(await drive.resume()).toMatchObject({ status: 'completed', result: '1' });
  });

  /** Runs a step that reads, and then one with an undo. */
  const careful = (ran: string[]) =>
    new Drive(
      machineSaga(
        { name: 'two', version: '1', reuse: 'ok' },
        setup({
          types: { output: {} as string },
          actors: {
            read: step(() => void ran.push('read')),
            charge: step(() => void ran.push('charge'), { compensate: () => undefined }),
          },
        }).createMachine({
          initial: 'reading',
          states: {
            reading: { invoke: { id: 'read', src: 'read', onDone: 'charging' } },
            charging: { invoke: { id: 'charge', src: 'charge', onDone: 'done' } },
            done: { type: 'final' },
          },
          output: 'ended',
        }),
      ),
    );

  it('[E1] an effect with an undo waits until somebody has a token', async () => {
    const ran: string[] = [];
    const drive = careful(ran);
    await drive.start({}, { replace: { defersEffects: 'vital' } });
    expect(drive.suspended).toMatchObject({ steps: [], retryAfterMs: 0 });
    expect(ran).toEqual(['read']);
    expect(await drive.resume()).toMatchObject({ status: 'completed', result: 'ended' });
    expect(ran).toEqual(['read', 'charge']);
  });

  it('[E1] an effect with an undo waits for a commit, and runs in the same request', async () => {
    const ran: string[] = [];
    const commit = async ({ reason }: CommitPoint): Promise<CommittedTurn> => {
      ran.push(reason);
      return { turn: 2, tokenBytes: 9, deadline: undefined };
    };
    const ended = await careful(ran).start({}, { replace: { defersEffects: 'vital', commit } });
    expect(ended).toMatchObject({ status: 'completed', result: 'ended' });
    expect(ran).toEqual(['read', 'vital', 'charge']);
  });

  it('[T13] a `once` effect claims its key', async () => {
    const once = step(() => 'x', { once: true });
    const first = oneStep(once);
    expect(await first.start()).toMatchObject({ result: '"x"' });
    const again = oneStep(once);
    again.world.claimed.add('do:it');
    expect(await again.start()).toMatchObject({ result: 'failed outcome_unknown' });
  });

  it('[T13] an effect that cannot be claimed ends the turn, and can run in the next one', async () => {
    let ran = 0;
    const drive = oneStep(step(() => (ran += 1), { once: true }));
    const down = new Error('ECONNREFUSED');
    let claims = 0;
    const claim = async (): Promise<boolean> => {
      claims += 1;
      if (claims === 1) throw down;
      return true;
    };
    await expect(drive.start({}, { replace: { claim } })).rejects.toMatchObject({
      name: 'TurnAborted',
      cause: down,
    });
    expect(ran).toBe(0);
    expect(await drive.start()).toMatchObject({ result: '1' });
  });

  it('[T13] [E3] a failed claim in the first turn undoes earlier steps, as there is no token', async () => {
    const did: string[] = [];
    const machine = setup({
      actors: {
        charge: step(() => did.push('charge'), { compensate: () => void did.push('refund') }),
        thank: step(() => did.push('thank'), { once: true }),
      },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'charge', src: 'charge', onDone: 'b' } },
        b: { invoke: { id: 'thank', src: 'thank', onDone: 'c', onError: 'c' } },
        c: { type: 'final' },
      },
      output: '',
    });
    const drive = new Drive(machineSaga({ name: 'one', version: '1' }, machine));
    const down = new Error('ECONNREFUSED');
    const claim = async (): Promise<boolean> => Promise.reject(down);
    expect(await drive.start({}, { replace: { claim } })).toMatchObject({
      status: 'failed',
      error: down,
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('an effect runs in a live actor, too', async () => {
    const machine = setup({
      actors: { it: step(({ input }: { input: { n: number } }) => input.n + 1) },
    }).createMachine({
      initial: 'a',
      states: {
        a: { invoke: { id: 'it', src: 'it', input: { n: 1 }, onDone: 'b' } },
        b: { type: 'final' },
      },
    });
    const actor = createActor(machine).start();
    await new Promise((resolve) => {
      actor.subscribe({ complete: () => resolve(undefined) });
    });
    expect(actor.getSnapshot().value).toBe('b');
  });
});
