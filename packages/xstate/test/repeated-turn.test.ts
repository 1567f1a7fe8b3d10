import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import type { Outcome } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { continuesAtCommits, type TurnSettings } from '../../core/test/support/world.ts';
import { accept, Drive } from './support/drive.ts';

const minute = 60_000;
const did: string[] = [];
const text = { output: {} as string };
const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
const does = (what: string) => step(() => void did.push(what));

/** A machine whose turn with an answer is lost after 29 minutes, and repeated an hour later. */
async function repeated(
  machine: AnyStateMachine,
  answers: Parameters<Drive['resume']>[0],
  settings: TurnSettings = {},
) {
  const saga = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));
  await saga.start();
  const { outcome: before, world } = saga;
  const began = world.time;
  did.length = 0;
  world.time += 29 * minute;
  const receivedAt = world.time;
  const lost = await saga.resume(answers, settings);
  const didBefore = did.splice(0);
  saga.outcome = before as Outcome;
  world.time += 60 * minute;
  const outcome = await saga.resume(answers, { ...settings, replace: { receivedAt } });
  expect(did).toEqual(didBefore);
  return { saga, world, began, lost, outcome };
}

const sure = { sure: accept({ n: 1 }) };
const late = `${30 * minute}`;

describe('a repeated turn of a machine', () => {
  it('[E1] [W6] accepts an answer from before a deadline that has passed since', async () => {
    const machine = setup({ types: text, actors: { ask, charge: does('charge') } }).createMachine({
      initial: 'asking',
      states: {
        asking: {
          invoke: { id: 'sure', src: 'ask', onDone: 'charging' },
          after: { [late]: 'expired' },
        },
        charging: { invoke: { src: 'charge', onDone: 'charged' } },
        charged: { type: 'final' },
        expired: { type: 'final', tags: 'compensate' },
      },
      output: 'in time',
    });
    const { outcome } = await repeated(machine, sure);
    expect(outcome).toMatchObject({ result: 'in time' });
    expect(did).toEqual(['charge']);
  });

  it('[E1] [W6] continues after an answer, and keeps a running delay unchanged', async () => {
    const machine = setup({ types: text, actors: { ask, charge: does('charge') } }).createMachine({
      initial: 'open',
      states: {
        open: {
          initial: 'asking',
          after: { [late]: 'expired' },
          states: {
            asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
            charging: { invoke: { src: 'charge', onDone: 'more' } },
            more: { invoke: { id: 'more', src: 'ask' } },
          },
        },
        expired: { type: 'final' },
      },
      output: 'expired',
    });
    const { saga, lost, began } = await repeated(machine, sure);
    expect(did).toEqual(['charge']);
    const { state, due, deadline } = saga.suspended;
    expect({ state, due, deadline }).toMatchObject({
      due: began + 30 * minute,
      deadline: began + 30 * minute,
    });
    expect(lost).toMatchObject({ state, due, deadline });
    expect(await saga.resume()).toMatchObject({ result: 'expired' });
  });

  it('[E1] [W6] ends a delay that had ended in the first run, and starts its successor at that time', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask' }, after: { [20 * minute]: 'escalated' } },
        escalated: { invoke: { id: 'boss', src: 'ask' }, after: { [20 * minute]: 'expired' } },
        expired: { type: 'final' },
      },
      output: 'expired',
    });
    const { saga, lost, began } = await repeated(machine, sure);
    const { state, due } = saga.suspended;
    expect(due).toBe(began + 40 * minute);
    expect(lost).toMatchObject({ state, due, steps: [{ stepId: 'boss@2' }] });
  });

  it('[E1] [W6] gives its own question the full time, whatever had ended in the first run', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      type: 'parallel',
      states: {
        one: {
          initial: 'asking',
          states: {
            asking: {
              invoke: { id: 'sure', src: 'ask', onDone: 'more' },
              after: { [late]: 'expired' },
            },
            more: { invoke: { id: 'more', src: 'ask' }, after: { [late]: 'expired' } },
            expired: { type: 'final' },
          },
        },
        two: {
          initial: 'a',
          states: { a: { after: { [20 * minute]: 'b' } }, b: { type: 'final' } },
        },
      },
      output: '',
    });
    const { saga, world } = await repeated(machine, sure);
    expect(saga.suspended.due).toBe(world.time + 30 * minute);
  });

  it.each([
    // To be tried again in a minute.
    { delay: 30 * minute, tried: 1 },
    // Tried again then, and to be tried again in a quarter of an hour.
    { delay: 15 * minute, tried: 3 },
  ])(
    '[E1] [E2] retries an effect as in the first run, with a delay of $delay ms',
    async ({ delay, tried }) => {
      const attempts: number[] = [];
      const retry = { attempts: 9, delay: delay, factor: 1, maxDelay: delay, jitter: false };
      const check = step<undefined, void>(
        ({ attempt }) => {
          attempts.push(attempt);
          throw new Error('not yet');
        },
        { retry },
      );
      const machine = setup({
        types: text,
        actors: { ask, check, charge: does('charge') },
      }).createMachine({
        type: 'parallel',
        states: {
          one: {
            initial: 'asking',
            states: {
              asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
              charging: { invoke: { src: 'charge', onDone: 'more' } },
              more: { invoke: { id: 'more', src: 'ask' } },
            },
          },
          two: { invoke: { src: 'check', id: 'check' } },
        },
      });
      const { saga, lost, world } = await repeated(machine, sure);
      expect(attempts).toHaveLength(tried);
      const { state, due } = saga.suspended;
      if (tried === 1) expect(lost).toMatchObject({ state, due });
      else expect(due).toBe(world.time + delay);
      await saga.resume();
      expect(attempts).toHaveLength(tried === 1 ? 2 : 3);
    },
  );

  it('[E1] [E2] holds the request until a retry, as in the first run', async () => {
    const check = step<undefined, void>(
      ({ attempt }) => {
        did.push(`check ${attempt}`);
        if (attempt === 1) throw new Error('not yet');
      },
      { retry: { attempts: 2, delay: 30 * minute, maxDelay: 30 * minute, jitter: false } },
    );
    const machine = setup({ types: text, actors: { check } }).createMachine({
      initial: 'checking',
      states: { checking: { invoke: { src: 'check', onDone: 'end' } }, end: { type: 'final' } },
      output: 'checked',
    });
    const { lost, outcome } = await repeated(machine, {}, { maxHold: 2 * minute });
    expect([lost, outcome]).toMatchObject([{ result: 'checked' }, { result: 'checked' }]);
  });

  it('[E1] [W6] uses the current time after a commit that no other run reached', async () => {
    const actors = { ask, charge: does('charge'), ship: does('ship') };
    const machine = setup({ types: text, actors }).createMachine({
      initial: 'open',
      states: {
        open: {
          initial: 'asking',
          after: { [late]: 'expired' },
          states: {
            asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
            charging: { invoke: { src: 'charge', onDone: 'shipping' } },
            shipping: { invoke: { src: 'ship' } },
          },
        },
        expired: { type: 'final' },
      },
      output: 'expired',
    });
    const saga = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));
    await saga.start();
    did.length = 0;
    saga.world.time += 60 * minute;
    const receivedAt = saga.world.time - 31 * minute;
    const replace = { receivedAt, commitsEach: true, ...continuesAtCommits() };
    expect(await saga.resume(sure, { replace })).toMatchObject({ result: 'expired' });
    expect(did).toEqual(['charge']);
  });

  it('[E1] uses its own clock if the clock of the first run was ahead', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'end' }, after: { [late]: 'expired' } },
        expired: { type: 'final', tags: 'compensate' },
        end: { type: 'final' },
      },
      output: 'in time',
    });
    const saga = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));
    await saga.start();
    saga.world.time += 29 * minute;
    const replace = { receivedAt: saga.world.time + 2 * minute };
    expect(await saga.resume(sure, { replace })).toMatchObject({ result: 'in time' });
  });
});
