import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it, vi } from 'vitest';
import { setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { accept, Drive } from './support/drive.ts';

/** Counts the objects whose properties are listed in a turn of a machine with so many parallel regions. */
async function listedIn(regions: number): Promise<number> {
  const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
  const states = Array.from({ length: regions }, (_, index) => [
    `r${index}`,
    { initial: 'a', states: { a: { invoke: { id: `ask${index}`, src: 'ask', onDone: 'b' } }, b: {} } },
  ]);
  const machine = setup({ actors: { ask } }).createMachine({
    type: 'parallel',
    states: Object.fromEntries(states),
  } as never) as unknown as AnyStateMachine;
  const drive = new Drive(machineSaga({ name: 'm', version: '1' }, machine));
  await drive.start();
  const list = vi.spyOn(Object, 'entries');
  try {
    await drive.resume({ ask0: accept({ n: 1 }) });
    expect(drive.asked).toHaveLength(regions - 1);
    return list.mock.calls.length;
  } finally {
    list.mockRestore();
  }
}

describe('many parallel regions', () => {
  it('[R1] are saved and restored in walks whose number does not grow with the regions', async () => {
    const few = await listedIn(10);
    expect(await listedIn(40)).toBeLessThan(5 * few);
  });
});
