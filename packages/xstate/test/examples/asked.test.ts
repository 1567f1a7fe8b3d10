/**
 * Example machines of XState that wait for events from outside, and end. The shapes are theirs;
 * names, texts, and data are not.
 */
import { crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { assign, createMachine, fromPromise, setup } from 'xstate';
import { z } from 'zod';
import { act, choose, stateOf, work } from '../support/example-shapes.ts';

const did = new Provider<string>();
const providers = [did];
const day = 24 * 60 * 60 * 1_000;

describe('[R1] an example machine of XState that waits for events, and ends', () => {
  it('serves workflow-applicant-request, whose event is chosen by a guard', async () => {
    interface Rider {
      readonly name: string;
      readonly height: number;
    }
    const machine = setup({
      types: { context: {} as { rider: Rider }, input: {} as { rider: Rider } },
      actors: { ride: act(did, 'ride'), refuse: act<{ rider: Rider }>(did, 'refuse') },
      guards: { isTall: ({ context }) => context.rider.height >= 140 },
    }).createMachine({
      id: 'coaster',
      initial: 'Queue',
      context: ({ input }) => ({ rider: input.rider }),
      states: {
        Queue: {
          on: {
            Enter: [
              { target: 'Ride', guard: 'isTall', reenter: false },
              { target: 'Refuse', reenter: false },
            ],
          },
        },
        Ride: { invoke: { src: 'ride', onDone: 'Out', onError: 'Refuse' } },
        Refuse: {
          invoke: {
            src: 'refuse',
            input: ({ context }) => ({ rider: context.rider }),
            onDone: 'Out',
          },
        },
        Out: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'coaster',
        version: '1',
        input: z.object({ rider: z.object({ name: z.string(), height: z.number() }) }),
        asks: { Queue: choose('Enter') },
        result: ({ value, context }) => `${context.rider.name}: ${value}`,
      },
      machine,
    );
    const tall = testSaga(saga, { input: { rider: { name: 'Di', height: 170 } }, providers });
    const enters = tall.on.elicit('Queue', { event: 'Enter' });
    expect((await enters.run()).result).toBe('Di: Out');
    expect(did.standing).toEqual(['ride']);
    const fails = await enters.fail.step('0.coaster.Ride', new Error('Wet.')).run();
    expect([fails.result, did.standing]).toEqual(['Di: Out', ['refuse']]);
    await crashEverywhere(enters, { check: () => expect(did.standing).toEqual(['ride']) });
    const small = testSaga(saga, { input: { rider: { name: 'Ed', height: 120 } }, providers });
    await small.on.elicit('Queue', { event: 'Enter' }).run();
    expect(did.standing).toEqual(['refuse']);
  });

  it('serves workflow-event-greeting, whose event carries the input of a promise', async () => {
    const machine = setup({
      types: { events: {} as { type: 'order'; order: { dish: string } } },
      actors: {
        cook: work(
          did,
          ({ dish }: { dish: string }) => `cook ${dish}`,
          ({ dish }) => ({ plate: `a plate of ${dish}` }),
        ),
      },
    }).createMachine({
      id: 'kitchen',
      initial: 'Open',
      states: {
        Open: { on: { order: 'Cook' } },
        Cook: {
          invoke: {
            src: 'cook',
            input: ({ event }) => ({ dish: event.order.dish }),
            onDone: {
              target: 'Served',
              actions: assign({ plate: ({ event }) => event.output.plate }),
            },
          },
        },
        Served: { type: 'final', output: ({ context }) => ({ plate: context.plate }) },
      },
    });
    const saga = machineSaga(
      {
        name: 'kitchen',
        version: '1',
        asks: {
          Open: {
            ask: elicit({ message: 'Which dish?', schema: z.object({ dish: z.string() }) }),
            onAnswer: ({ answer, send }) => send({ type: 'order', order: answer }),
          },
        },
        output: z.object({ plate: z.string() }),
        result: ({ output }) => output as { plate: string },
      },
      machine,
    );
    const test = testSaga(saga, { providers }).on.elicit('Open', { dish: 'rice' });
    expect((await test.run()).result).toEqual({ plate: 'a plate of rice' });
    await crashEverywhere(test, { check: () => expect(did.standing).toEqual(['cook rice']) });
  });

  it('serves workflow-event-based, which waits for one of two events, or for a delay', async () => {
    const machine = setup({
      delays: { patience: 1_000 },
      actors: { plant: act(did, 'plant'), burn: act(did, 'burn'), store: act(did, 'store') },
    }).createMachine({
      id: 'seed',
      initial: 'Rest',
      states: {
        Rest: { on: { rain: 'Plant', drought: 'Burn' }, after: { patience: 'Store' } },
        Plant: { invoke: { src: 'plant', onDone: 'Gone' } },
        Burn: { invoke: { src: 'burn', onDone: 'Gone' } },
        Store: { invoke: { src: 'store', onDone: 'Gone' } },
        Gone: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'seed',
        version: '1',
        asks: { Rest: choose('rain', 'drought') },
        result: ({ value }) => value,
      },
      machine,
    );
    const test = testSaga(saga, { providers });
    for (const [told, script] of [
      ['plant', test.on.elicit('Rest', { event: 'rain' })],
      ['burn', test.on.elicit('Rest', { event: 'drought' })],
      ['store', test.silent.elicit('Rest', 10_000)],
    ] as const) {
      expect((await script.run()).result).toBe('Gone');
      await crashEverywhere(script, { check: () => expect(did.standing).toEqual([told]) });
    }
  });

  it('serves workflow-finalize-college-app, which collects three events in any order', async () => {
    const machine = setup({
      types: {
        context: {} as { show: string; hall: boolean; band: boolean; crowd: boolean },
        input: {} as { show: string },
      },
      actors: {
        play: work(
          did,
          ({ show }: { show: string }) => `play ${show}`,
          ({ show }) => ({ show }),
        ),
      },
    }).createMachine({
      id: 'concert',
      context: ({ input }) => ({ show: input.show, hall: false, band: false, crowd: false }),
      initial: 'Gather',
      states: {
        Gather: {
          on: {
            HallOpen: { actions: assign({ hall: true }) },
            BandHere: { actions: assign({ band: true }) },
            CrowdHere: { actions: assign({ crowd: true }) },
          },
          always: {
            guard: ({ context }) => context.hall && context.band && context.crowd,
            target: 'Play',
          },
        },
        Play: {
          invoke: {
            src: 'play',
            input: ({ context }) => ({ show: context.show }),
            onDone: 'Played',
          },
        },
        Played: { type: 'final' },
      },
    });
    const saga = machineSaga(
      {
        name: 'concert',
        version: '1',
        input: z.object({ show: z.string() }),
        asks: { Gather: choose('HallOpen', 'BandHere', 'CrowdHere') },
        result: ({ value, context }) => `${context.show}: ${value}`,
      },
      machine,
    );
    const test = testSaga(saga, { input: { show: 'Rondo' }, providers })
      .on.elicit('Gather', { event: 'BandHere' })
      .on.elicit('Gather@2', { event: 'CrowdHere' })
      .on.elicit('Gather@3', { event: 'HallOpen' });
    expect((await test.run()).result).toBe('Rondo: Played');
    await crashEverywhere(test, { check: () => expect(did.standing).toEqual(['play Rondo']) });
  });

  it('serves workflow-car-auction-bids, which takes events until a delay is over', async () => {
    interface Vote {
      readonly song: string;
      readonly points: number;
      readonly judge: { readonly name: string };
    }
    const machine = createMachine(
      {
        id: 'contest',
        initial: 'Vote',
        types: {} as { context: { votes: Vote[] }; events: { type: 'Vote'; vote: Vote } },
        context: { votes: [] },
        states: {
          Vote: {
            on: {
              Vote: {
                actions: assign({ votes: ({ context, event }) => [...context.votes, event.vote] }),
              },
            },
            after: { Voting: 'Over' },
          },
          Over: {
            type: 'final',
            output: ({ context }) => ({
              best: context.votes.reduce((one, other) => (one.points > other.points ? one : other)),
            }),
          },
        },
      },
      { delays: { Voting: 3_000 } },
    );
    const saga = machineSaga(
      {
        name: 'contest',
        version: '1',
        asks: {
          Vote: {
            ask: elicit({
              message: 'Your vote?',
              schema: z.object({ song: z.string(), points: z.int(), judge: z.string() }),
            }),
            onAnswer: ({ answer: { song, points, judge }, send }) =>
              send({ type: 'Vote', vote: { song, points, judge: { name: judge } } }),
          },
        },
        result: ({ output }) => JSON.stringify(output),
      },
      machine,
    );
    const test = testSaga(saga)
      .on.elicit('Vote', { song: 'Tide', points: 7, judge: 'Flo' })
      .on.elicit('Vote@2', { song: 'Ebb', points: 9, judge: 'Gus' })
      .silent.elicit('Vote@3', 10_000);
    const best = { song: 'Ebb', points: 9, judge: { name: 'Gus' } };
    expect((await test.run()).result).toBe(JSON.stringify({ best }));
    await crashEverywhere(test);
  });

  it('serves workflow-book-lending, which sleeps for two weeks, and looks again', async () => {
    interface Tool {
      readonly name: string;
      readonly id: string;
      readonly where: 'lent' | 'here' | 'unknown';
    }
    let places: Tool['where'][] = [];
    const machine = createMachine(
      {
        types: {} as {
          context: { tool: Tool | null; neighbor: { name: string } | null };
          events:
            | {
                type: 'ask';
                tool: { name: string; id: string };
                neighbor: { name: string };
              }
            | { type: 'wait' }
            | { type: 'leave' };
        },
        initial: 'At the door',
        context: { tool: null, neighbor: null },
        states: {
          'At the door': {
            on: {
              ask: {
                target: 'Look for it',
                actions: assign({
                  tool: ({ event }) => ({ ...event.tool, where: 'unknown' as const }),
                }),
              },
            },
          },
          'Look for it': {
            invoke: {
              src: 'Find the tool',
              input: ({ context }) => ({ id: context.tool?.id }),
              onDone: {
                target: 'Found or not',
                actions: assign({
                  tool: ({ context, event }) => ({
                    ...(context.tool as Tool),
                    where: (event.output as Pick<Tool, 'where'>).where,
                  }),
                }),
              },
            },
          },
          'Found or not': {
            always: [
              { guard: ({ context }) => context.tool?.where === 'lent', target: 'Say sorry' },
              { guard: ({ context }) => context.tool?.where === 'here', target: 'Hand it over' },
              { target: 'Gone' },
            ],
          },
          'Say sorry': {
            invoke: {
              src: 'Write a note',
              input: ({ context }) => ({ text: `The ${context.tool?.name} is lent.` }),
              onDone: { target: 'Wait for the neighbor' },
            },
          },
          'Wait for the neighbor': {
            on: { wait: { target: 'Reserve it' }, leave: { target: 'Forget it' } },
          },
          'Reserve it': {
            invoke: {
              src: 'Reserve the tool',
              input: ({ context }) => ({ id: context.tool?.id, neighbor: context.neighbor }),
              onDone: { target: 'Two weeks' },
            },
          },
          'Forget it': {
            invoke: {
              src: 'Forget the tool',
              input: ({ context }) => ({ id: context.tool?.id, neighbor: context.neighbor }),
              onDone: { target: 'Gone' },
            },
          },
          'Two weeks': { after: { FORTNIGHT: { target: 'Look for it' } } },
          'Hand it over': {
            initial: 'Signing',
            states: {
              Signing: {
                invoke: {
                  src: 'Sign for the tool',
                  input: ({ context }) => ({ id: context.tool?.id }),
                  onDone: { target: 'Giving' },
                },
              },
              Giving: {
                invoke: {
                  src: 'Give the tool',
                  input: ({ context }) => ({ id: context.tool?.id, neighbor: context.neighbor }),
                  onDone: { target: 'Gone' },
                },
              },
              Gone: { type: 'final' },
            },
          },
          Gone: { type: 'final' },
        },
      },
      {
        actors: {
          'Find the tool': fromPromise(async () => ({
            where: places.length > 1 ? places.shift() : places[0],
          })),
          'Write a note': act(did, 'note'),
          'Reserve the tool': act(did, 'reserve'),
          'Forget the tool': act(did, 'forget'),
          'Sign for the tool': act(did, 'sign'),
          'Give the tool': act(did, 'give'),
        },
        delays: { FORTNIGHT: 14 * day },
      },
    );
    const saga = machineSaga(
      {
        name: 'tools',
        version: '1',
        asks: {
          'At the door': {
            ask: elicit({ message: 'Which tool?', schema: z.object({ tool: z.string() }) }),
            onAnswer: ({ answer: { tool }, send }) =>
              send({ type: 'ask', tool: { name: tool, id: 't1' }, neighbor: { name: 'Hal' } }),
          },
          'Wait for the neighbor': choose('wait', 'leave'),
          // The machine ends its story there, but has no transition to its final state.
          'Hand it over.Gone': 'end',
        },
        steps: { 'Find the tool': { reads: true } },
        result: ({ value, context }) => `${context.tool?.name}: ${JSON.stringify(value)}`,
      },
      machine,
    );
    const sees = (...seen: Tool['where'][]) =>
      testSaga(saga, {
        providers,
        before: () => void (places = [...seen]),
        host: { limits: { maxLifetime: '30d' } },
      }).on.elicit('At the door', { tool: 'saw' });
    const waits = sees('lent', 'here').on.elicit('Wait for the neighbor', { event: 'wait' });
    expect((await waits.run()).result).toBe('saw: {"Hand it over":"Gone"}');
    expect(did.standing).toEqual(['note', 'reserve', 'sign', 'give']);
    const leaves = sees('lent').on.elicit('Wait for the neighbor', { event: 'leave' });
    expect((await leaves.run()).result).toBe('saw: "Gone"');
    await crashEverywhere(leaves, {
      check: () => expect(did.standing).toEqual(['note', 'forget']),
    });
    expect((await sees('unknown').run()).result).toBe('saw: "Gone"');
  });

  it('serves workflow-new-patient-onboarding, whose promises are tried again', async () => {
    let failures = 0;
    const flaky = (name: string) =>
      work<unknown>(
        did,
        () => name,
        () => {
          if (failures-- > 0) throw Object.assign(new Error('Busy.'), { code: 'EBUSY' });
        },
      );
    const machine = createMachine(
      {
        id: 'club',
        types: {} as {
          events: { type: 'Join'; name: string; level: string };
          context: { member: { name: string; level: string } | null };
        },
        initial: 'Closed',
        context: { member: null },
        states: {
          Closed: {
            on: {
              Join: {
                target: 'Welcome',
                actions: assign({
                  member: ({ event }) => ({ name: event.name, level: event.level }),
                }),
              },
            },
          },
          Welcome: {
            initial: 'Enroll',
            states: {
              Enroll: {
                invoke: {
                  src: 'enroll',
                  input: ({ context }) => context.member,
                  onDone: { target: 'Coach' },
                  onError: { target: '#Left' },
                },
              },
              Coach: {
                invoke: {
                  src: 'coach',
                  onDone: { target: 'Invite' },
                  onError: { target: '#Left' },
                },
              },
              Invite: {
                invoke: {
                  src: 'invite',
                  onDone: { target: 'Ready' },
                  onError: { target: '#Left' },
                },
              },
              Ready: { type: 'final' },
            },
            onDone: { target: 'Left', actions: assign({ member: null }) },
          },
          Left: { id: 'Left', type: 'final' },
        },
      },
      { actors: { enroll: flaky('enroll'), coach: flaky('coach'), invite: flaky('invite') } },
    );
    const retry = { attempts: 10, delay: '3s', factor: 1, when: isBusy } as const;
    const saga = machineSaga(
      {
        name: 'club',
        version: '1',
        asks: {
          Closed: {
            ask: elicit({
              message: 'Who joins?',
              schema: z.object({ name: z.string(), level: z.string() }),
            }),
            onAnswer: ({ answer, send }) => send({ type: 'Join', ...answer }),
          },
        },
        steps: { enroll: { retry }, coach: { retry }, invite: { retry } },
        result: ({ value, context }) => `${stateOf(value)}: ${JSON.stringify(context.member)}`,
      },
      machine,
    );
    const failing = (times: number) =>
      testSaga(saga, { providers, before: () => void (failures = times) }).on.elicit('Closed', {
        name: 'Ida',
        level: 'new',
      });
    expect((await failing(5).run()).result).toBe('Left: null');
    expect(did.standing).toEqual(['enroll', 'coach', 'invite']);
    // An attempt too many.
    expect((await failing(10).run()).result).toBe('Left: {"name":"Ida","level":"new"}');
    await crashEverywhere(failing(0), {
      check: () => expect(did.standing).toEqual(['enroll', 'coach', 'invite']),
    });
  });

  it('serves workflow-purchase-order-deadline, which a delay of the whole machine cancels', async () => {
    const machine = createMachine(
      {
        id: 'move',
        types: {} as { events: { type: 'Packed' } | { type: 'Loaded' } | { type: 'Driven' } },
        initial: 'Pack',
        after: { MONTH: { target: '.Give up' } },
        states: {
          Pack: { on: { Packed: { actions: ['note'], target: 'Load' } } },
          Load: { on: { Loaded: { actions: ['note'], target: 'Drive' } } },
          Drive: { on: { Driven: { actions: ['note'], target: 'There' } } },
          There: { type: 'final', entry: ['note'] },
          'Give up': { invoke: { src: 'unpack', onDone: { target: 'Stayed' } } },
          Stayed: { type: 'final', entry: ['note'] },
        },
      },
      {
        delays: { MONTH: 30 * day },
        actions: { note: () => undefined },
        actors: { unpack: act(did, 'unpack') },
      },
    );
    const saga = machineSaga(
      {
        name: 'move',
        version: '1',
        asks: { Pack: choose('Packed'), Load: choose('Loaded'), Drive: choose('Driven') },
        result: ({ value }) => stateOf(value),
      },
      machine,
    );
    const host = { limits: { maxLifetime: '60d' } } as const;
    const packs = testSaga(saga, { providers, host }).on.elicit('Pack', { event: 'Packed' });
    const drives = packs.on
      .elicit('Load', { event: 'Loaded' })
      .on.elicit('Drive', { event: 'Driven' });
    expect((await drives.run()).result).toBe('There');
    const stays = packs.silent.elicit('Load', 10 * day);
    expect((await stays.run()).result).toBe('Stayed');
    await crashEverywhere(stays, { check: () => expect(did.standing).toEqual(['unpack']) });
  });
});

function isBusy(error: unknown): boolean {
  return (error as { readonly code?: string }).code === 'EBUSY';
}
