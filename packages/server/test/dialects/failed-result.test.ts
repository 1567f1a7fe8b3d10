import { SagaError } from '@mcp-saga/core';
import { expect, test } from 'vitest';
import type { FailedTurn } from '../../src/model/turn.ts';
import { toToolResult } from '../../src/wire/tool-result.ts';

function textOf(uncompensated: FailedTurn['uncompensated']): unknown {
  const turn = {
    status: 'failed',
    error: new SagaError('No money'),
    compensated: [{ stepId: 'hold' }],
    uncompensated,
  } as unknown as FailedTurn;
  return toToolResult('shop', turn).content[0];
}

test('[E9] a failed result says what may have run in an interrupted turn, and lists no turn as a step', () => {
  const open =
    'More steps may have run in turn 2, which was interrupted. Nothing is known about them, and they are not undone.';
  expect(textOf([{ stepId: 'turn 2' }])).toMatchObject({
    text: `No money. Undone: 'hold'. ${open}`,
  });
  expect(textOf([{ stepId: 'turn 2' }, { stepId: 'charge', label: '9 EUR' }])).toMatchObject({
    text: `No money. Undone: 'hold'. Not undone, and left as it is: 'charge' (9 EUR). ${open}`,
  });
});
