/* oxlint-disable @mcp-saga/require-yield-star -- mistakes, as they are written */
import { describe, expect, it } from 'vitest';
import { saga, step } from '../src/index.ts';
import { start } from './support/drive.ts';
import { World } from './support/world.ts';

const options = { name: 'order', version: '1', reuse: 'ok' } as const;

/** A step that charges, and then gets a command wrong. */
const mistakes: readonly (readonly [string, (charges: string[]) => () => unknown])[] = [
  [
    'awaits',
    (charges) => async () => {
      charges.push('charge');
      await (step('mail', () => 'sent') as unknown as Promise<string>);
    },
  ],
  [
    'resolves to',
    (charges) => async () => {
      charges.push('charge');
      return step('mail', () => 'sent');
    },
  ],
  ['returns', (charges) => () => (charges.push('charge'), step('mail', () => 'sent'))],
];

describe.each(mistakes)('a step that acts and then %s a command', (_, codeOf) => {
  it('[E3] is reported as not undone, and not repeated', async () => {
    const charges: string[] = [];
    const order = saga(options, function* () {
      yield* step('charge', codeOf(charges) as () => number, {
        retry: 3,
        compensate: () => void charges.push('refund'),
      });
      return 'done';
    });
    expect(await start(order, {}, new World())).toMatchObject({
      status: 'failed',
      uncompensated: [{ stepId: 'charge' }],
    });
    expect(charges).toEqual(['charge']);
  });

  it("[E3] is undone with unknown: 'compensate'", async () => {
    const charges: string[] = [];
    const order = saga(options, function* () {
      yield* step('charge', codeOf(charges) as () => number, {
        compensate: () => void charges.push('refund'),
        unknown: 'compensate',
      });
      return 'done';
    });
    await start(order, {}, new World());
    expect(charges).toEqual(['charge', 'refund']);
  });
});
