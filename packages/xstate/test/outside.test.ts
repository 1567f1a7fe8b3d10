import { engineOf } from '@mcp-saga/core/program';
import { SagaCancelled, type Approval } from '@mcp-saga/core';
import { approval, elicit, machineSaga, step, stepError, waitFor } from '@mcp-saga/xstate';
import { assign, setup } from 'xstate';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  continuesAtCommits,
  endsAtCommits,
  type TurnSettings,
} from '../../core/test/support/world.ts';
import type { CommitPoint } from '@mcp-saga/core/program';
import { FakeOutside } from '../../core/test/support/outside.ts';
import { Drive, failureOf } from './support/drive.ts';
import {
  askingAgain,
  day,
  hour,
  Outbox,
  Paid,
  refundSaga,
  releaseSaga,
} from './support/outside-machines.ts';

/** A machine, its answers, and everything that was delivered. */
class Case {
  readonly outbox = new Outbox();
  readonly outside = new FakeOutside();
  readonly drive: Drive;
  readonly settings: TurnSettings = {
    budget: 25_000,
    maxHold: 0,
    replace: { outside: this.outside },
  };

  constructor(make: (outbox: Outbox) => ReturnType<typeof machineSaga>) {
    this.drive = new Drive(make(this.outbox));
  }

  start(settings: TurnSettings = {}): ReturnType<Drive['start']> {
    return this.drive.start({}, this.#with(settings));
  }

  resume(settings: TurnSettings = {}): ReturnType<Drive['resume']> {
    return this.drive.resume({}, this.#with(settings));
  }

  answer(given: Parameters<FakeOutside['answer']>[2] = {}, index = 0): boolean {
    return this.outside.answer(this.outbox.url(index), this.drive.world.time, given);
  }

  #with({ replace, ...settings }: TurnSettings): TurnSettings {
    return { ...this.settings, ...settings, replace: { ...this.settings.replace, ...replace } };
  }
}

function resultOf(outcome: Awaited<ReturnType<Drive['start']>>): string {
  if (outcome.status !== 'completed')
    throw new Error(`It is ${outcome.status}.`, {
      cause: (outcome as { readonly error?: unknown }).error,
    });
  return String(outcome.result);
}

describe('an approval of a machine', () => {
  it('delivers a link, waits with a text for the client, and decides by the answer', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    expect(test.outbox.sent).toMatchObject([
      { to: undefined, isReminder: false, key: 'do:manager/deliver' },
    ]);
    const { steps, content, retryAfterMs } = test.drive.suspended;
    expect([steps, content]).toEqual([[], ['Waiting for approval: manager.']]);
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(30_000);
    test.drive.world.time += 1;
    test.answer({ content: { comment: 'fine' } });
    const decision = JSON.parse(resultOf(await test.resume())) as Approval<unknown>;
    expect(decision).toMatchObject({
      approved: true,
      answers: [
        { by: { subject: 'ann' }, level: 'user', shown: 'shown', content: { comment: 'fine' } },
      ],
    });
    expect(test.outbox.did).toEqual(['hold', 'pay 10']);
    expect(test.outside.open).toBe(0);
  });

  it('computes the message from the input, and gives the input to the delivery', async () => {
    const inputs: number[] = [];
    const test = new Case((outbox) =>
      refundSaga(outbox, {
        to: ({ input }) => [`${input}@shop.example`],
        deliver: ({ input, to, url }) => {
          inputs.push(input);
          expect([to, JSON.parse(url)]).toMatchObject([
            '10@shop.example',
            { question: { message: 'Refund 10 cents?' } },
          ]);
        },
      }),
    );
    await test.start();
    expect(inputs).toEqual([10]);
  });

  it('undoes a step with a compensation after a denial', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    test.answer({ approved: false });
    const failure = failureOf(await test.resume());
    expect(failure.compensated.map(({ stepId }) => stepId)).toEqual(['hold']);
    expect(String(failure.error)).toContain('denied');
    expect(test.outbox.did).toEqual(['hold', 'release']);
  });

  it('times out, reminds, and escalates', async () => {
    const test = new Case((outbox) =>
      refundSaga(outbox, {
        by: 'manager',
        remindEvery: 4 * hour,
        escalate: [{ after: 6 * hour, by: 'director' }],
      }),
    );
    await test.start();
    for (const hours of [4, 2, 18]) {
      test.drive.world.time += hours * hour;
      await test.resume();
    }
    expect(test.outbox.sent.map(({ by, isReminder }) => [by, isReminder])).toEqual([
      ['manager', false],
      ['manager', true],
      ['director', false],
    ]);
    expect(String(failureOf(test.drive.outcome as never).error)).toContain('timeout');
    expect(test.answer()).toBe(false);
  });

  it('waits for enough approvals, and skips answers that the schema rejects', async () => {
    const test = new Case((outbox) =>
      refundSaga(outbox, { of: 2, link: 'accept', to: ['a', 'b', 'c'] }),
    );
    await test.start();
    test.answer({ by: 'link' }, 0);
    await test.resume();
    test.answer({ by: 'link', content: { comment: 'x' } }, 1);
    await test.resume();
    test.answer({ by: 'link' }, 2);
    expect(resultOf(await test.resume())).toContain('"approved":true');
  });

  it('closes the box when the machine leaves the state', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { giveUpMs: hour }));
    await test.start();
    test.drive.world.time += hour;
    expect(resultOf(await test.resume())).toBe('');
    expect(test.outside.open).toBe(0);
    expect(test.answer()).toBe(false);
  });

  it('accepts a stored answer before an overdue delay, as a generator saga does', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { giveUpMs: hour }));
    await test.start();
    test.answer();
    test.drive.world.time += 2 * hour;
    expect(resultOf(await test.resume())).toContain('"approved":true');
  });

  it('closes the box when the saga is cancelled, and undoes the steps before', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    const outcome = await test.drive.end(new SagaCancelled(), test.settings);
    expect(failureOf(outcome).compensated.map(({ stepId }) => stepId)).toEqual(['hold']);
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
  });

  it('closes the box although the first attempt to close it fails', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { giveUpMs: hour }));
    await test.start();
    test.drive.world.time += hour;
    let attempts = 0;
    const close: FakeOutside['close'] = (...closed) => {
      attempts += 1;
      return attempts === 1 ? Promise.reject(new Error('down')) : test.outside.close(...closed);
    };
    const outside = Object.assign(Object.create(test.outside) as FakeOutside, { close });
    expect(resultOf(await test.resume({ replace: { outside } }))).toBe('');
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
  });

  it('sends another link with another key each time the state is entered', async () => {
    const test = new Case((outbox) => askingAgain(outbox));
    await test.start();
    test.answer({ approved: false });
    await test.resume();
    expect(test.outbox.sent.map(({ key }) => key)).toEqual(['do:go/deliver', 'do:go#2/deliver']);
    expect(test.answer()).toBe(false);
    test.answer({}, 1);
    expect(resultOf(await test.resume())).toBe('asked 2');
  });

  it('passes a failed delivery to onError, after three attempts', async () => {
    let attempts = 0;
    const test = new Case((outbox) =>
      refundSaga(outbox, {
        deliver: () => {
          attempts += 1;
          throw new RangeError('no mail');
        },
      }),
    );
    await test.start();
    for (let turns = 0; turns < 2; turns += 1) {
      test.drive.world.time += 1_000;
      await test.resume();
    }
    const failure = failureOf(test.drive.outcome as never);
    expect([attempts, String(failure.error)]).toEqual([3, expect.stringContaining('RangeError')]);
    expect(test.outbox.did).toEqual(['hold', 'release']);
  });

  it('reports an interrupted turn if the delivery fails only in its repetition', async () => {
    const test = new Case((outbox) =>
      refundSaga(outbox, {
        deliver: () => {
          throw new RangeError('no mail');
        },
      }),
    );
    await test.start();
    test.drive.world.time += 1_000;
    await test.resume();
    test.drive.world.time += 1_000;
    // The run before may have delivered the link, and have taken another branch since.
    const failure = failureOf(await test.resume({ replace: { isInterrupted: true } }));
    expect(failure.compensated).toEqual([{ stepId: 'hold' }]);
    expect(failure.uncompensated).toContainEqual({ stepId: 'turn 3' });
  });

  it('passes ClientCannot to onError if the client cannot wait', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    const failure = failureOf(await test.start({ replace: { maxWait: 1_000 } }));
    expect(failure.error).toMatchObject({ code: 'saga_aborted', message: 'ClientCannot' });
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
  });

  it('holds a request for the whole wait if the client has no token', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { timeout: 60_000 }));
    const outcome = await test.start({ replace: { deadline: undefined } });
    expect(String(failureOf(outcome).error)).toContain('timeout');
  });

  it('commits before the effect that follows a decision', async () => {
    const points: CommitPoint[] = [];
    const test = new Case((outbox) => refundSaga(outbox, {}, {}));
    await test.start({ replace: continuesAtCommits() });
    test.answer();
    const did: string[][] = [];
    const { commit } = continuesAtCommits(points);
    await test.resume({
      replace: {
        commit: async (point) => {
          did.push([...test.outbox.did]);
          return await commit?.(point);
        },
      },
    });
    expect([points.map(({ reason }) => reason), did]).toEqual([['chance'], [['hold']]]);
    expect(test.outbox.did).toEqual(['hold', 'pay 10']);
  });

  it('refuses to continue after a change of the message, and the old code decides', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    const { outcome, program } = test.drive;
    test.drive.program = refundSaga(test.outbox, { message: 'Refund everything?' });
    expect(failureOf(await test.resume())).toMatchObject({
      error: { code: 'replay_mismatch', name: 'MachineMismatch' },
      compensated: [],
    });
    test.drive.program = program;
    test.drive.outcome = outcome;
    test.answer();
    expect(resultOf(await test.resume())).toContain('"approved":true');
  });

  it("undoes the saga after a change of the message, with onMismatch: 'compensate'", async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    test.drive.program = refundSaga(
      test.outbox,
      { message: 'Refund everything?' },
      { onMismatch: 'compensate' },
    );
    expect(failureOf(await test.resume()).compensated.map(({ stepId }) => stepId)).toEqual([
      'hold',
    ]);
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
  });

  it('delivers new links after a change of `by`, and refuses the old ones', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { by: 'manager' }));
    await test.start();
    test.drive.program = refundSaga(test.outbox, { by: 'director' });
    await test.resume();
    expect(test.outbox.sent.map(({ by }) => by)).toEqual(['manager', 'director']);
    expect(test.answer()).toBe(false);
    test.answer({}, 1);
    expect(resultOf(await test.resume())).toContain('"approved":true');
  });

  it('is a mismatch if a question to the client replaces it', async () => {
    const test = new Case((outbox) => askingAgain(outbox));
    await test.start();
    const go = elicit({ message: 'Go?', schema: z.object({ sure: z.boolean() }) });
    const machine = setup({ actors: { go } }).createMachine({
      initial: 'asking',
      states: { asking: { invoke: { id: 'go', src: 'go' } } },
    });
    test.drive.program = machineSaga({ name: 'again', version: '1' }, machine);
    expect(failureOf(await test.resume())).toMatchObject({
      error: {
        name: 'MachineMismatch',
        incompatibilities: ["the actor 'go' is of another kind now"],
      },
    });
  });

  it.each([true, false])(
    'closes the links of a wait that a migration removes, with its logic still in the code: %s',
    async (isKnown) => {
      const test = new Case((outbox) => askingAgain(outbox));
      await test.start();
      const go = approval({ message: 'Go?', timeout: day, deliver: test.outbox.deliver });
      const machine = setup({
        actors: { [isKnown ? 'go' : 'other']: go },
        delays: { rest: hour },
      }).createMachine({
        initial: 'resting',
        states: {
          resting: { after: { rest: 'asking' } },
          asking: { invoke: { id: 'go', src: isKnown ? 'go' : 'other', onDone: 'over' } },
          over: { type: 'final' },
        },
        output: '',
      });
      test.drive.program = machineSaga(
        {
          name: 'again',
          version: '1',
          drift: 'refuse',
          migrate: () => ({
            value: 'resting',
            context: {},
            children: {},
            delays: [{ at: test.drive.world.time + hour, actor: '', id: 'rest.(machine).resting' }],
          }),
        },
        machine,
      );
      await test.resume();
      expect([test.drive.suspended.content, test.outside.open, test.answer()]).toEqual([
        undefined,
        0,
        false,
      ]);
      test.drive.world.time += hour;
      await test.resume();
      // Its link is not one of the question before.
      expect(test.outbox.sent).toHaveLength(2);
      expect(test.answer({}, 1)).toBe(true);
      expect((await test.resume()).status).toBe('completed');
    },
  );

  it('keeps the machine waiting while the store is down', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.start();
    test.answer();
    test.outside.isDown = true;
    await test.resume();
    expect(test.drive.suspended.content).toEqual(['Waiting for approval: manager.']);
    test.outside.isDown = false;
    expect(resultOf(await test.resume())).toContain('"approved":true');
  });

  it('delivers nothing before somebody has a token', async () => {
    const test = new Case((outbox) => askingAgain(outbox));
    const { replace } = test.settings;
    await test.start({ ...test.settings, replace: { ...replace, defersEffects: 'vital' } });
    expect([test.outbox.sent, test.drive.suspended.retryAfterMs]).toEqual([[], 0]);
    await test.resume();
    expect(test.outbox.sent).toHaveLength(1);
  });

  it('records the decision with receipts in the timeline', async () => {
    const test = new Case((outbox) => askingAgain(outbox));
    await test.start();
    test.answer({ approved: false });
    await test.resume();
    const { program, suspended } = test.drive;
    expect(engineOf(program).timeline(suspended.state)).toMatchObject([
      { kind: 'machine' },
      { kind: 'poll', path: 'go/answers', outcome: 'answered' },
    ]);
  });
});

/**
 * Saga that asks, and whose step beside the question fails. `onError`: the machine then rests for a
 * day.
 */
function failing(outbox: Outbox, onError?: 'rest'): ReturnType<typeof machineSaga> {
  const machine = setup({
    actors: {
      go: approval({ message: 'Go?', timeout: 2 * day, deliver: outbox.deliver }),
      hold: step(() => void outbox.did.push('hold'), {
        compensate: () => void outbox.did.push('release'),
      }),
      work: step(() => {
        throw new RangeError('no work');
      }),
    },
  }).createMachine({
    initial: 'holding',
    states: {
      holding: { invoke: { id: 'hold', src: 'hold', onDone: 'both' } },
      both: {
        invoke: [
          { id: 'go', src: 'go' },
          { id: 'work', src: 'work', ...(onError === undefined ? {} : { onError }) },
        ],
      },
      rest: { after: { [day]: 'over' } },
      over: { type: 'final' },
    },
    output: '',
  });
  return machineSaga({ name: 'failing', version: '1' }, machine);
}

describe('a wait whose links must be withdrawn', () => {
  const reasons: string[] = [];
  const ends = { replace: endsAtCommits(reasons as never[]) };

  it('is stored until the turn that left its state is committed', async () => {
    const test = new Case((outbox) => failing(outbox, 'rest'));
    await test.start(ends);
    expect([reasons.splice(0), test.outside.open, test.drive.suspended.retryAfterMs]).toEqual([
      ['chance'],
      1,
      0,
    ]);
    await test.resume(ends);
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
    test.drive.world.time += day;
    expect((await test.resume()).status).toBe('completed');
  });

  it('is withdrawn before the undo of a failed machine, after the commit', async () => {
    const test = new Case((outbox) => failing(outbox));
    await test.start(ends);
    expect([reasons.splice(0), test.outside.open, test.outbox.did]).toEqual([
      ['undo'],
      1,
      ['hold'],
    ]);
    const failure = failureOf(await test.resume(ends));
    expect([test.outside.open, test.outbox.did]).toEqual([0, ['hold', 'release']]);
    expect(failure).toMatchObject({
      error: { name: 'RangeError' },
      compensated: [{ stepId: 'hold' }],
    });
  });

  it('is withdrawn at once when the saga is cancelled before its undo, although effects are put off', async () => {
    const test = new Case((outbox) => failing(outbox));
    await test.start(ends);
    expect([reasons.splice(0), test.outside.open]).toEqual([['undo'], 1]);
    const { replace } = test.settings;
    const putOff = { ...test.settings, replace: { ...replace, defersEffects: 'all' as const } };
    // Only the undo is put off: an answer that a link still took would count nowhere.
    test.drive.outcome = await test.drive.end(new SagaCancelled(), putOff);
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
    expect(test.outbox.did).toEqual(['hold']);
    expect(failureOf(await test.resume()).compensated).toEqual([{ stepId: 'hold' }]);
  });

  it('is withdrawn when the saga is cancelled in between', async () => {
    const test = new Case((outbox) => failing(outbox, 'rest'));
    await test.start(ends);
    reasons.splice(0);
    await test.drive.end(new SagaCancelled(), test.settings);
    expect([test.outside.open, test.answer()]).toEqual([0, false]);
  });
});

describe('waits in parallel regions', () => {
  it('wait in parallel, each with its own links', async () => {
    const test = new Case((outbox) => releaseSaga(outbox));
    await test.start();
    expect(test.outbox.sent.map(({ key }) => key)).toEqual([
      'do:legal/deliver',
      'do:press/deliver',
      'do:payment/register',
    ]);
    expect(test.drive.suspended.content).toEqual([
      'Waiting for approval: legal.',
      'Waiting for approval: press.',
      'Waiting for an event: payment.',
    ]);
    test.answer({}, 1);
    await test.resume();
    test.answer({ by: 'link', content: { status: 'paid', amount: 7 } }, 2);
    test.answer({}, 0);
    expect(resultOf(await test.resume())).toBe('press,legal 7');
    expect(test.outside.open).toBe(0);
  });
});

describe('waitFor of a machine', () => {
  it('passes StepTimedOut to onError, which stepError reads', async () => {
    const machine = setup({
      types: { context: {} as { reason: string }, output: {} as string },
      actors: {
        payment: waitFor({ schema: Paid, register: () => 0, link: 'accept', timeout: hour }),
      },
    }).createMachine({
      context: { reason: '' },
      initial: 'waiting',
      states: {
        waiting: {
          invoke: {
            id: 'payment',
            src: 'payment',
            onError: {
              target: 'over',
              actions: assign({ reason: ({ event }) => stepError(event)?.reason ?? '' }),
            },
          },
        },
        over: { type: 'final' },
      },
      output: ({ context }) => context.reason,
    });
    const test = new Case(() => machineSaga({ name: 'pay', version: '1' }, machine));
    await test.start();
    test.drive.world.time += hour;
    expect(resultOf(await test.resume())).toBe('timeout');
  });
});

describe('options of waits', () => {
  it.each([
    ['approval', () => approval({ message: 'Go?', timeout: 1, deliver: undefined as never })],
    ['approval', () => approval({ message: 'Go?', timeout: -1, deliver: () => 0 })],
    [
      'approval',
      () => approval({ message: 'Go?', timeout: 1, deliver: () => 0, tiemout: 1 } as never),
    ],
    [
      'approval',
      () => approval({ message: 'Go?', timeout: 1, deliver: () => 0, of: 2, link: 'accept' }),
    ],
    ['waitFor', () => waitFor({ schema: z.object({}), timeout: 1, register: () => 0 } as never)],
  ])('are checked by %s at once', (_, make) => {
    expect(make).toThrow(expect.objectContaining({ name: 'AuthoringError' }));
  });

  it.each([{ to: () => ['a', 'b'] }, { escalate: () => [{ after: hour }] }])(
    'of an approval accept recipients that depend on the input: %o',
    (recipients) => {
      const given = { message: 'Go?', timeout: day, deliver: () => 0 };
      const several = { of: 2, link: 'accept' } as const;
      expect(() => approval({ ...given, ...several, ...recipients })).not.toThrow();
    },
  );

  it('that depend on the input are errors of the actor', async () => {
    const test = new Case((outbox) => refundSaga(outbox, { of: () => 0 }));
    expect(String(failureOf(await test.start()).error)).toContain('AuthoringError');
  });
});
