import { answerGraceMs } from '@mcp-saga/core/program';
import { elicit, machineSaga, step } from '@mcp-saga/xstate';
import { setup, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { accept, Drive } from './support/drive.ts';

const minute = 60_000;
const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
const sure = { sure: accept({ n: 1 }) };
const text = { output: {} as string };

async function started(machine: AnyStateMachine): Promise<Drive> {
  const drive = new Drive(machineSaga({ name: 'm', version: '1', reuse: 'ok' }, machine as never));
  await drive.start();
  return drive;
}

/** A question with a minute to answer it; then another one, with ten seconds. */
const asking = setup({
  types: { ...text, context: {} as { heard: string } },
  actors: { ask },
}).createMachine({
  context: { heard: '' },
  initial: 'asking',
  states: {
    asking: { invoke: { id: 'sure', src: 'ask', onDone: 'more' }, after: { [minute]: 'expired' } },
    more: { invoke: { id: 'more', src: 'ask', onDone: 'end' }, after: { 10_000: 'expired' } },
    expired: { invoke: { id: 'expired', src: 'ask' }, after: { [minute]: 'end' } },
    end: { type: 'final' },
  },
  output: 'ended',
});

describe('an answer that comes after the delay beside its question', () => {
  it.each([0, 1, answerGraceMs])('[W6] counts within the grace: %i ms late', async (late) => {
    const drive = await started(asking);
    drive.world.time += minute + late;
    await drive.resume(sure);
    expect(drive.asked).toEqual(['more@2']);
    // The next question has its full time.
    expect(drive.suspended.due).toBe(drive.world.time + 10_000);
  });

  it.each([answerGraceMs + 1, 59 * minute])(
    '[W6] is dropped after the grace: %i ms late',
    async (late) => {
      const drive = await started(asking);
      const began = drive.world.time;
      drive.world.time += minute + late;
      await drive.resume(sure);
      // The state after the delay began when the delay was due.
      if (late > minute) expect(drive.outcome).toMatchObject({ status: 'completed' });
      else
        expect(drive.suspended).toMatchObject({
          due: began + 2 * minute,
          steps: [{ stepId: 'expired@2' }],
        });
    },
  );

  it('[W6] is late by the time at which an interrupted run received it', async () => {
    const drive = await started(asking);
    drive.world.time += minute + answerGraceMs;
    const receivedAt = drive.world.time;
    drive.world.time += 10 * minute;
    await drive.resume(sure, { replace: { receivedAt } });
    expect(drive.asked).toEqual(['more@2']);
    expect(drive.suspended.due).toBe(drive.world.time + 10_000);
  });

  it('[W6] a request without an answer to the question has no grace', async () => {
    for (const answers of [{}, { other: accept({ n: 1 }) }]) {
      const drive = await started(asking);
      drive.world.time += minute;
      await drive.resume(answers);
      expect(drive.asked).toEqual(['expired@2']);
    }
  });

  it('[W6] precedes delays within the grace, which fire in the same turn', async () => {
    const machine = setup({ types: text, actors: { ask } }).createMachine({
      type: 'parallel',
      states: {
        one: {
          initial: 'asking',
          states: {
            asking: { invoke: { id: 'sure', src: 'ask', onDone: 'end' } },
            end: { type: 'final' },
          },
        },
        two: {
          initial: 'a',
          states: {
            a: { after: { [minute]: 'b' } },
            b: { invoke: { id: 'b', src: 'ask' }, after: { [minute]: 'c' } },
            c: { type: 'final' },
          },
        },
      },
      output: 'ended',
    });
    const drive = await started(machine);
    drive.world.time += minute + 10_000;
    await drive.resume(sure);
    expect(drive.asked).toEqual(['b@2']);
  });

  it('[W6] a delay still ends an effect that runs before the answer', async () => {
    const attempts: number[] = [];
    const slow = step<undefined>(
      async ({ attempt, signal }) => {
        attempts.push(attempt);
        if (attempt === 1) throw new Error('not yet');
        await drive.world.sleep(10 * minute, signal);
        return undefined;
      },
      { retry: { attempts: 2, delay: minute, factor: 1, jitter: false } },
    );
    const machine = setup({ types: text, actors: { ask, slow } }).createMachine({
      type: 'parallel',
      states: {
        one: {
          initial: 'asking',
          states: {
            asking: { invoke: { id: 'sure', src: 'ask', onDone: 'end' } },
            end: { type: 'final' },
          },
        },
        two: {
          initial: 'a',
          states: {
            a: { invoke: { id: 'slow', src: 'slow', onDone: 'b' }, after: { [2 * minute]: 'b' } },
            b: { type: 'final' },
          },
        },
      },
      output: 'ended',
    });
    const drive: Drive = await started(machine as AnyStateMachine);
    const began = drive.world.time;
    drive.world.time += minute;
    expect(await drive.resume(sure)).toMatchObject({ status: 'completed' });
    expect(attempts).toEqual([1, 2]);
    expect(drive.world.time).toBeLessThanOrEqual(began + 2 * minute + answerGraceMs + 1);
  });
});

describe('a delay that ends after the lifetime of its saga', () => {
  it('[W6] logs a warning', async () => {
    const drive = new Drive(machineSaga({ name: 'm', version: '1' }, asking));
    const replace = { lifeEndsAt: drive.world.time + minute - 1 };
    await drive.start({}, { replace });
    expect(drive.world.warnings).toHaveLength(1);
    await drive.resume({}, { replace });
    expect(drive.world.warnings).toHaveLength(1);
  });

  it('[W6] logs no warning if it ends in time', async () => {
    const drive = new Drive(machineSaga({ name: 'm', version: '1' }, asking));
    await drive.start({}, { replace: { lifeEndsAt: drive.world.time + minute } });
    expect(drive.world.warnings).toEqual([]);
  });
});
