import { compensator } from '@mcp-saga/core';
import { effect, elicitation, machineSaga } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { orphan } from '../../core/src/orphan.ts';
import { runtimeOf } from '../../core/test/support/world.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

const ask = elicitation({ message: 'Well?', schema: z.object({}) });

describe('the id of an effect', () => {
  it.each([undefined, 'pay', 'pay(5)', '(5)'])(
    '[E3] [R3] leads an undo to the key it ran with, where its code is gone: %j',
    async (id) => {
      const ran: string[] = [];
      const undone: string[] = [];
      const refund = compensator('refund', z.object({}), ({ stepKey }) => void undone.push(stepKey));
      const machine = setup({
        actors: {
          ask,
          pay: effect(({ idempotencyKey }) => void ran.push(idempotencyKey), {
            compensate: refund.for(() => ({})),
          }),
        },
      }).createMachine({
        invoke: { src: 'pay', ...(id === undefined ? {} : { id }) },
        initial: 'asking',
        states: {
          asking: { invoke: { id: 'ask', src: 'ask', onDone: { target: '#(machine)', reenter: true } } },
        },
      });
      const drive = new Drive(machineSaga({ name: 'm', version: '1', forks: 'accept' }, machine as never));
      await drive.start();
      await drive.resume({ ask: accept({}) });
      drive.world.compensators.set('refund', refund);
      const gone = orphan('m', new Error('gone'));
      const { state } = drive.suspended;
      const { residue } = failureOf(await gone.advance(state, new Map(), runtimeOf(drive.world)));
      expect(residue).toEqual([]);
      const path = id ?? '0.(machine)';
      expect(ran).toEqual([`do:${path}`, `do:${path}#2`]);
      expect(undone).toEqual(ran.toReversed());
    },
  );
});
