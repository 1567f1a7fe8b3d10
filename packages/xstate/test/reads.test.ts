import type { CommitPoint } from '@mcp-saga/core/program';
import { machineSaga, step } from '@mcp-saga/xstate';
import { setup, type AnyStateMachine } from 'xstate';
import { describe, expect, it } from 'vitest';
import { continuesAtCommits } from '../../core/test/support/world.ts';
import { Drive } from './support/drive.ts';

const driveOf = (machine: AnyStateMachine): Drive =>
  new Drive(
    machineSaga({ name: 'reads', version: '1', reuse: 'ok', result: () => 'end' }, machine),
  );

/** Steps in a row, by name: each is entered when the one before has ended or failed. */
function inARow(steps: Readonly<Record<string, ReturnType<typeof step<unknown>>>>) {
  const names = Object.keys(steps);
  const states = names.map((name, index) => {
    const next = names[index + 1] ?? 'end';
    return [name, { invoke: { id: name, src: name, onDone: next, onError: next } }] as const;
  });
  return setup({ actors: steps }).createMachine({
    initial: names[0] as string,
    states: { ...Object.fromEntries(states), end: { type: 'final' } },
  } as never) as unknown as AnyStateMachine;
}

const look = step<unknown>(() => 1, { reads: true });
const pay = step<unknown>(() => 2);

describe('a read of a machine', () => {
  it('[E1] needs no commit after another read, and an effect after it does', async () => {
    const points: CommitPoint[] = [];
    const drive = driveOf(inARow({ first: look, second: look, third: look, pay }));
    const outcome = await drive.start({}, { replace: continuesAtCommits(points) });
    expect(outcome.status).toBe('completed');
    expect(points.map(({ reason }) => reason)).toEqual(['chance']);
  });

  const failing = step<unknown>(() => {
    throw new Error('no');
  });
  it.each([
    ['that runs once', step<unknown>(() => 2, { once: true }), {}],
    ['that has failed', failing, {}],
    ['of a saga that commits each step', pay, { commitsEach: true }],
  ])('[E1] of a machine waits for the commit of an effect %s', async (_, effect, replace) => {
    const looked: number[] = [];
    const points: CommitPoint[] = [];
    const watched = step<unknown>(() => looked.push(points.length), { reads: true });
    const drive = driveOf(inARow({ first: look, effect, watched }));
    await drive.start({}, { replace: { ...replace, ...continuesAtCommits(points) } });
    // One commit before the effect, and one behind it.
    expect(looked).toEqual([2]);
  });

  it('[E1] begins no earlier than an effect of another region that waits for a commit', async () => {
    let paid: () => void = () => undefined;
    const whenPaid = new Promise<void>((resolve) => {
      paid = resolve;
    });
    const region = (src: string): object => ({
      initial: 'does',
      states: { does: { invoke: { id: src, src, onDone: 'did' } }, did: { type: 'final' } },
    });
    const machine = setup({
      actors: {
        look: step(() => 1, { reads: true }),
        watch: step(() => whenPaid, { reads: true }),
        pay: step(() => paid()),
      },
    }).createMachine({
      initial: 'first',
      states: {
        first: { invoke: { id: 'first', src: 'look', onDone: 'both' } },
        both: { type: 'parallel', onDone: 'end', states: { a: region('watch'), b: region('pay') } },
        end: { type: 'final' },
      },
    } as never);
    const drive = driveOf(machine as unknown as AnyStateMachine);
    const outcome = await drive.start({}, { replace: continuesAtCommits() });
    expect(outcome.status).toBe('completed');
  });
});
