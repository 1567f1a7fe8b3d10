import { SagaCancelled } from '@mcp-saga/core';
import type { CommitReason } from '@mcp-saga/core/program';
import { elicit, machineSaga, step, type StepLogicOptions } from '@mcp-saga/xstate';
import { fromPromise, setup, type AnyActorLogic, type AnyStateMachine } from 'xstate';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { continuesAtCommits, endsAtCommits } from '../../core/test/support/world.ts';
import { accept, Drive, failureOf } from './support/drive.ts';

const did: string[] = [];
const reasons: CommitReason[] = [];
/** Effects that fail, by name. */
const down = new Set<string>();
beforeEach(() => {
  did.length = 0;
  reasons.length = 0;
  down.clear();
});

const ask = elicit({ message: 'Well?', schema: z.object({ n: z.number() }) });
const sure = { sure: accept({ n: 1 }) };
const undo = { compensate: ({ stepKey }: { stepKey: string }) => void did.push(`undo ${stepKey}`) };
const undoUnknown = {
  compensate: ({ stepKey }: { stepKey: string }) => void did.push(`find ${stepKey}`),
  unknown: 'compensate',
} as const;

function does(name: string, options: StepLogicOptions<undefined, undefined> = {}): AnyActorLogic {
  return step(({ idempotencyKey }) => {
    did.push(idempotencyKey);
    if (down.has(name)) throw new Error('503');
    return undefined;
  }, options);
}

const interrupted = { replace: { isInterrupted: true } };
const guarded = { replace: { ...endsAtCommits(reasons) } };

async function started(machine: AnyStateMachine, options = {}, settings = {}): Promise<Drive> {
  const drive = new Drive(
    machineSaga({ name: 'm', version: '1', reuse: 'ok', ...options }, machine as never),
  );
  await drive.start({}, settings);
  return drive;
}

/** Asks, charges, ships. */
function buying(
  charge: AnyActorLogic,
  actors: Record<string, AnyActorLogic> = {},
): AnyStateMachine {
  return setup({
    types: { output: {} as string },
    actors: { ask, charge, ship: does('ship', undo), ...actors },
  }).createMachine({
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
      charging: { invoke: { id: 'charge', src: 'charge', onDone: 'shipping' } },
      shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'end' } },
      end: { type: 'final' },
    },
    output: 'bought',
  } as never) as unknown as AnyStateMachine;
}

describe('an interrupted turn of a machine', () => {
  it('[E9] undoes a failing effect of unknown outcome, and reports the turn', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    down.add('charge');
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, interrupted));
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    // It may have continued behind the charge, and have shipped.
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }]);
    expect(did).toEqual(['do:charge', 'find do:charge']);
  });

  it('[E9] reports a failing effect that must not be undone then', async () => {
    const drive = await started(buying(does('charge', undo)));
    down.add('charge');
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, interrupted));
    expect(compensated).toEqual([]);
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }, { stepId: 'charge' }]);
  });

  it('[E9] reports the turn in the turn that undoes, too', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    down.add('charge');
    const replace = { isInterrupted: true, ...endsAtCommits(reasons) };
    expect(await drive.resume(sure, { replace })).toMatchObject({ status: 'suspended' });
    expect(reasons).toEqual(['undo']);
    const { compensated, uncompensated } = failureOf(await drive.resume({}, guarded));
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], [{ stepId: 'turn 2' }]]);
  });

  it('[E9] [E1] does not report the turn if each effect is stored before the next', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    down.add('charge');
    const replace = { isInterrupted: true, commitsEach: true };
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, { replace }));
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], []]);
  });

  it('[E9] [R3] reports the turn of a changed machine, even with a token after each effect', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    drive.program = machineSaga(
      { name: 'm', version: '1', reuse: 'ok' },
      buying(does('charge', { ...undo, ...undoUnknown }), { stamp: does('stamp') }),
    );
    down.add('charge');
    const replace = { isInterrupted: true, commitsEach: true };
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, { replace }));
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], [{ stepId: 'turn 2' }]]);
  });

  it('[E9] [E1] reports no effect after a stored one, because that effect has not run', async () => {
    const drive = await started(buying(does('charge', undo)));
    await drive.resume(sure, { replace: { isInterrupted: true, commitsEach: true } });
    down.add('ship');
    const { compensated, uncompensated } = failureOf(await drive.resume());
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], []]);
  });

  it('[E9] [E1] reports no effect after a commit, because that effect has not run', async () => {
    const drive = await started(buying(does('charge', undo)));
    down.add('ship');
    const replace = { isInterrupted: true, commitsEach: true, ...continuesAtCommits() };
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, { replace }));
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], []]);
  });

  it('[E9] reports no effect that succeeded', async () => {
    const drive = await started(buying(does('charge', undo)));
    expect(await drive.resume(sure, interrupted)).toMatchObject({
      status: 'completed',
      result: 'bought',
    });
    expect(did).toEqual(['do:charge', 'do:ship']);
  });

  it('[E9] undoes the effects that succeeded before another one failed', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    down.add('ship');
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, interrupted));
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }, { stepId: 'ship' }]);
  });

  it.each([
    ['is cancelled', async (drive: Drive) => await drive.end(new SagaCancelled())],
    ['fails', async (drive: Drive) => (down.add('charge'), await drive.resume())],
  ])('[E9] reports effects that a slower repetition did not reach: it %s', async (_, ends) => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    // The answer is accepted, and the budget has no time for the charge.
    const replace = { isInterrupted: true, deadline: drive.world.time };
    await drive.resume(sure, { replace });
    expect(drive.suspended.steps).toEqual([]);
    expect(did).toEqual([]);
    const { compensated } = failureOf(await ends(drive));
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    expect(did).toContain('find do:charge');
  });

  it('[E9] reports effects that may follow one that the repetition did not reach', async () => {
    const drive = await started(buying(does('charge', { ...undo, ...undoUnknown })));
    await drive.resume(sure, { replace: { isInterrupted: true, deadline: drive.world.time } });
    down.add('ship');
    const { compensated, uncompensated } = failureOf(await drive.resume());
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }, { stepId: 'ship' }]);
  });

  it('[E9] undoes an effect whose state ended before it could run again', async () => {
    const retry = { attempts: 3, delay: 10_000, factor: 1, jitter: false };
    const charge = does('charge', { ...undo, ...undoUnknown, retry });
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, charge },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
        charging: { invoke: { id: 'charge', src: 'charge' }, after: { 15_000: 'late' } },
        late: { type: 'final', tags: ['compensate'] },
      },
    } as never) as unknown as AnyStateMachine;
    const drive = await started(machine);
    down.add('charge');
    await drive.resume(sure);
    drive.world.time += 20_000;
    const { compensated } = failureOf(await drive.resume({}, interrupted));
    expect(compensated).toEqual([{ stepId: 'charge' }]);
    expect(did).toEqual(['do:charge', 'find do:charge']);
  });

  it('[E9] [E1] an effect whose state ends at once passes its key to the next effect', async () => {
    const charge = does('charge', undo);
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, charge },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'first' } },
        first: { invoke: { id: 'charge', src: 'charge' }, always: 'second' },
        second: { invoke: { id: 'charge', src: 'charge', onDone: 'end' } },
        end: { type: 'final', tags: ['compensate'] },
      },
    } as never) as unknown as AnyStateMachine;
    const drive = await started(machine);
    const { compensated, uncompensated } = failureOf(await drive.resume(sure, interrupted));
    expect([compensated, uncompensated]).toEqual([[{ stepId: 'charge' }], []]);
    expect(did).toEqual(['do:charge', 'undo do:charge']);
  });

  it('[E9] reports the turn if a plain promise fails', async () => {
    const charge = fromPromise(async () => {
      throw new Error('503');
    });
    const drive = await started(buying(charge));
    const { uncompensated } = failureOf(await drive.resume(sure, interrupted));
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }]);
  });

  it('[E9] reports the turn in a later failure if the host answered a question in it', async () => {
    // A model or a fallback may have answered otherwise in the run before.
    const falls = elicit({
      message: 'By card?',
      schema: z.object({ n: z.number() }),
      fallback: { n: 1 },
    });
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, falls },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'choosing' } },
        choosing: { invoke: { id: 'card', src: 'falls', onDone: 'more' } },
        more: { invoke: { id: 'more', src: 'ask', onDone: 'end', onError: 'end' } },
        end: { type: 'final', tags: ['compensate'] },
      },
    } as never) as unknown as AnyStateMachine;
    const drive = await started(machine);
    const route = ({ hasFallback }: { readonly hasFallback: boolean }): 'ask' | 'fallback' =>
      hasFallback ? 'fallback' : 'ask';
    await drive.resume(sure, { replace: { isInterrupted: true, route } });
    expect(drive.asked).toEqual(['more@2']);
    const { uncompensated } = failureOf(await drive.resume({ 'more@2': accept({ n: 1 }) }));
    expect(uncompensated).toEqual([{ stepId: 'turn 2' }]);
  });

  it('[E9] [R3] reports the turn if a mismatch undoes the machine', async () => {
    const drive = await started(buying(does('charge', undo)));
    const other = setup({ types: { output: {} as string } }).createMachine({ output: '' });
    drive.program = machineSaga(
      { name: 'm', version: '1', reuse: 'ok', onMismatch: 'compensate' },
      other,
    );
    expect(failureOf(await drive.resume(sure, interrupted)).uncompensated).toEqual([
      { stepId: 'turn 2' },
    ]);
  });
});

describe('a delay that fires during a guarded turn', () => {
  /** A slow check beside a delay: whichever ends first is followed by another effect. */
  function racing(drive: () => Drive): AnyStateMachine {
    const slow = step<undefined>(async ({ signal }) => {
      did.push('check');
      await drive().world.sleep(5_000, signal);
      return undefined;
    });
    return setup({
      types: { output: {} as string },
      actors: {
        ask,
        slow,
        charge: does('charge'),
        more: fromPromise(async () => void did.push('more')),
      },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: {
          invoke: { id: 'sure', src: 'ask', onDone: 'checking' },
          after: { 60_000: 'charging' },
        },
        checking: {
          invoke: { id: 'check', src: 'slow', onDone: 'end' },
          after: { 1_000: 'charging' },
        },
        charging: {
          invoke: [
            { id: 'charge', src: 'charge', onDone: 'end' },
            { id: 'more', src: 'more' },
          ],
        },
        end: { type: 'final' },
      },
      output: 'ended',
    } as never) as unknown as AnyStateMachine;
  }

  it('[E9] starts no effect in that turn', async () => {
    const drive: Drive = await started(racing(() => drive));
    expect(await drive.resume(sure, guarded)).toMatchObject({
      status: 'suspended',
      retryAfterMs: 0,
    });
    expect(reasons.splice(0)).toEqual(['chance']);
    expect(did).toEqual(['check']);
    expect(await drive.resume({}, guarded)).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['check', 'do:charge', 'more']);
  });

  it('[E9] starts no effect after one that failed in that turn', async () => {
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, charge: does('charge'), tell: does('tell') },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'charging' } },
        charging: { invoke: { id: 'charge', src: 'charge', onDone: 'end', onError: 'telling' } },
        telling: { invoke: { id: 'tell', src: 'tell', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'ended',
    } as never) as unknown as AnyStateMachine;
    const drive = await started(machine);
    down.add('charge');
    expect(await drive.resume(sure, guarded)).toMatchObject({
      status: 'suspended',
      retryAfterMs: 0,
    });
    expect(reasons.splice(0)).toEqual(['chance']);
    expect(did).toEqual(['do:charge']);
    expect(await drive.resume({}, guarded)).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['do:charge', 'do:tell']);
  });

  it('[E9] starts no effect after a race of two effects in that turn', async () => {
    const quick = step<undefined>(async ({ signal }) => {
      await drive.world.sleep(100, signal);
      return undefined;
    });
    const slow = step<undefined>(async ({ signal }) => {
      await drive.world.sleep(200, signal);
      return undefined;
    });
    const machine = setup({
      types: { output: {} as string },
      actors: { ask, quick, slow, charge: does('charge') },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'ask', onDone: 'racing' } },
        racing: {
          invoke: [
            { id: 'quick', src: 'quick', onDone: 'charging' },
            { id: 'slow', src: 'slow', onDone: 'end' },
          ],
        },
        charging: { invoke: { id: 'charge', src: 'charge', onDone: 'end' } },
        end: { type: 'final' },
      },
      output: 'ended',
    } as never) as unknown as AnyStateMachine;
    const drive: Drive = await started(machine);
    expect(await drive.resume(sure, guarded)).toMatchObject({
      status: 'suspended',
      retryAfterMs: 0,
    });
    expect(reasons.splice(0)).toEqual(['chance']);
    expect(did).toEqual([]);
    expect(await drive.resume({}, guarded)).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['do:charge']);
  });

  it('[E9] [T13] waits until the turn stores that a `once` effect has run', async () => {
    const drive: Drive = await started(buying(does('charge', { once: true })));
    expect(await drive.resume(sure, guarded)).toMatchObject({
      status: 'suspended',
      retryAfterMs: 0,
    });
    expect(reasons.splice(0)).toEqual(['chance']);
    expect(did).toEqual(['do:charge']);
    expect(await drive.resume({}, guarded)).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['do:charge', 'do:ship']);
  });

  it('[E9] starts an effect at once if older tokens may be reused', async () => {
    const drive: Drive = await started(racing(() => drive));
    expect(await drive.resume(sure)).toMatchObject({ status: 'completed' });
  });

  it('[E9] starts an effect at once if the delay ended before the turn', async () => {
    const drive: Drive = await started(racing(() => drive));
    drive.world.time += 60_000;
    expect(await drive.resume({}, guarded)).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['do:charge', 'more']);
  });

  it('[E6] holds the request for a grace after an abort if an effect never settles', async () => {
    const aborting = new AbortController();
    const stuck = step(() => {
      aborting.abort(new Error('gone'));
      return new Promise<never>(() => undefined);
    });
    const drive: Drive = await started(buying(stuck));
    await expect(drive.resume(sure, { signal: aborting.signal })).rejects.toThrow('aborted');
  });
});

/** As `interrupted-behind-time.test.ts` of core: both bodies keep the number in the head. */
it('[E4] a payment behind a delay that an interrupted run may have waited for is never denied', async () => {
  let isSlow = true;
  let isPaid = false;
  const region = (states: object): object => ({
    initial: Object.keys(states)[0],
    states: { ...states, end: { type: 'final' } },
  });
  const machine = setup({
    actors: {
      ask: elicit({ message: 'Well?', schema: z.object({}) }),
      look: step(async ({ signal }) => {
        if (isSlow) await drive.world.sleep(1000, signal);
      }),
      pay: step(
        () => {
          did.push('pay');
          if (isPaid) throw new Error('409 already charged');
        },
        { unknown: 'compensate', compensate: () => void did.push('refund') },
      ),
    },
  }).createMachine({
    initial: 'asking',
    states: {
      asking: { invoke: { id: 'ask', src: 'ask', onDone: 'going' } },
      going: {
        type: 'parallel',
        states: {
          one: region({ look: { invoke: { id: 'look', src: 'look', onDone: 'end' } } }),
          two: region({
            wait: { after: { 10: 'pay' } },
            pay: { invoke: { id: 'pay', src: 'pay', onDone: 'end' } },
          }),
        },
        onDone: 'paid',
      },
      paid: { type: 'final' },
    },
  } as never) as unknown as AnyStateMachine;
  const drive: Drive = new Drive(
    machineSaga({ name: 'pays', version: '1', reuse: 'ok', result: () => 'paid' }, machine),
  );
  await drive.start();
  const stored = drive.outcome;
  const dies = new AbortController();
  const run = drive
    .resume({ ask: accept({}) }, { signal: dies.signal })
    .catch((error: unknown) => error);
  while (!did.includes('pay')) await new Promise((resolve) => setImmediate(resolve));
  dies.abort(new Error('died'));
  await run;
  drive.outcome = stored;
  isSlow = false;
  isPaid = true;
  await drive.resume({ ask: accept({}) }, { replace: { isInterrupted: true } });
  drive.world.time += 10;
  const outcome = failureOf(await drive.resume());
  expect(outcome.compensated.map(({ stepId }) => stepId)).toEqual(['pay']);
  expect(outcome.uncompensated.map(({ stepId }) => stepId)).toEqual(['turn 3']);
  expect(did).toEqual(['pay', 'pay', 'refund']);
});
