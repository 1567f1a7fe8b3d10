import { engineOf, type SagaEngine } from '@mcp-saga/core/program';
import type { ClientStep, Program } from '@mcp-saga/core';
import type { ClientAnswer, ProgramState } from '@mcp-saga/core/program';
import { createSagaHost, generateKey } from '@mcp-saga/server';
import { elicit, machineSaga } from '@mcp-saga/xstate';
import { createActor, setup, type AnyStateMachine } from 'xstate';
import { z } from 'zod';
import { measure, type Candidate } from '../harness.ts';
import { journalOf } from '../journal-of.ts';
import type { Finding, Row } from '../row.ts';

const ask = elicit({ message: 'And now?', schema: z.object({ ok: z.boolean() }) });

/** Sequential questions. The measurement stops at the last but one. */
function chain(states: number): AnyStateMachine {
  const questions = Array.from({ length: states - 1 }, (_, index) => [
    `s${index}`,
    {
      invoke: {
        id: index === states - 3 ? 'last' : `ask${index}`,
        src: 'ask',
        onDone: index === states - 2 ? 'end' : `s${index + 1}`,
      },
    },
  ]);
  const all = { ...Object.fromEntries(questions), end: { type: 'final' } } as object;
  return machineOf({ initial: 's0', states: all });
}

/** Parallel regions whose questions are all pending at once. Each region has one more question. */
function regions(count: number): AnyStateMachine {
  const states = Array.from({ length: count }, (_, index) => [
    `r${index}`,
    {
      initial: 'a',
      states: {
        a: { invoke: { id: index === 0 ? 'last' : `ask${index}`, src: 'ask', onDone: 'b' } },
        b: { invoke: { id: `then${index}`, src: 'ask' } },
      },
    },
  ]);
  return machineOf({ type: 'parallel', states: Object.fromEntries(states) as object });
}

function machineOf(config: object): AnyStateMachine {
  const { createMachine } = setup({ actors: { ask } });
  return createMachine({ id: 'm', output: '', ...config } as never) as unknown as AnyStateMachine;
}

const programOf = (machine: AnyStateMachine): Program =>
  machineSaga({ name: 'bench', version: '1' }, machine as never);

/** Cost of one turn of a machine without sealing, of its state, and of its token. */
export const machine: Row = async ({ effort }) => {
  const machines = await Promise.all(
    [chain(5), chain(40), regions(8), regions(32), regions(128)].map(ready),
  );
  const [five, forty, eight] = machines as [Ready, Ready, Ready];
  const turns = machines.flatMap((one, index): Candidate[] => [
    { name: `saga ${index}`, run: turnOf(one) },
    { name: `stock ${index}`, run: stockTurnOf(one) },
  ]);
  const timings = await measure(turns, effort);
  const turnFindings = figuresOfTurns.map((figure, index): Finding => {
    const { cpu, wall } = timings.of(`saga ${index}`);
    const stock = timings.peerOf(`saga ${index}`, `stock ${index}`);
    return {
      figure,
      ours: cpu,
      wall,
      peers: [{ name: 'restore, one event, persist, by XState alone', value: stock }],
    };
  });
  const [tokenFive, tokenForty, tokenEight] = await Promise.all(
    [five, forty, eight].map(tokenBytes),
  );
  return [
    ...turnFindings,
    {
      figure: 'machine-bytes-chain',
      ours: bytesOf(five.state),
      peers: [
        { name: 'with 40 states', value: bytesOf(forty.state) },
        { name: 'as a token', value: tokenFive ?? Number.NaN },
        { name: 'as a token, with 40 states', value: tokenForty ?? Number.NaN },
      ],
    },
    {
      figure: 'machine-bytes-regions',
      ours: bytesOf(eight.state),
      peers: [{ name: 'as a token', value: tokenEight ?? Number.NaN }],
    },
  ];
};

const figuresOfTurns = [
  'machine-chain-5',
  'machine-chain-40',
  'machine-regions-8',
  'machine-regions-32',
  'machine-regions-128',
] as const;

interface Ready {
  readonly machine: AnyStateMachine;
  readonly program: Program;
  readonly state: ProgramState;
  readonly runtime: Parameters<SagaEngine['advance']>[2];
  readonly answers: ReadonlyMap<string, ClientAnswer>;
}

const accepted = { action: 'accept', content: { ok: true } };

async function ready(made: AnyStateMachine): Promise<Ready> {
  const program = programOf(made);
  const { state, runtime } = await journalOf(program, {}, () => ({ ok: true }));
  const [stepId = ''] = engineOf(program).asked(state);
  return {
    machine: made,
    program,
    state,
    runtime,
    answers: new Map([[stepId, { result: accepted, provenance: 'client' }]]),
  };
}

function turnOf({ program, state, runtime, answers }: Ready): Candidate['run'] {
  return async (times) => {
    for (let count = 0; count < times; count += 1) {
      const { status } = await engineOf(program).advance(state, answers, runtime);
      if (status !== 'suspended') throw new Error(`The turn ${status}`);
    }
  };
}

/** Runs the same turn with XState alone, persisting the state as JSON. */
function stockTurnOf({ machine: made, answers, state }: Ready): Candidate['run'] {
  const first = createActor(made);
  first.start();
  const [target = ''] = [...answers.keys()].map((stepId) => stepId.replace(/@\d+$/, ''));
  const end = { type: 'mcp-saga.end', end: { output: { ok: true } } };
  const children = (
    actor: typeof first,
  ): Readonly<Record<string, { send(event: object): void } | undefined>> =>
    actor.getSnapshot().children;
  // Runs up to the current state of the saga.
  for (let turn = 0; turn < 100 && children(first)[target] === undefined; turn += 1) {
    for (const child of Object.values(children(first))) child?.send(end);
  }
  const text = JSON.stringify(first.getPersistedSnapshot());
  if (state.server === '') throw new Error('nothing to compare');
  return (times) => {
    for (let count = 0; count < times; count += 1) {
      const actor = createActor(made, { snapshot: JSON.parse(text) as never });
      actor.start();
      children(actor)[target]?.send(end);
      JSON.stringify(actor.getPersistedSnapshot());
    }
  };
}

function bytesOf({ head, structure, client, server }: ProgramState): number {
  return head.length + structure.length + client.length + server.length;
}

async function tokenBytes({ program }: Ready): Promise<number> {
  const host = createSagaHost({
    sagas: [program],
    keys: generateKey(),
    name: 'bench',
    testing: { environment: 'production' },
    hooks: { onWarning: () => {} },
  });
  let turn = await host.start('bench', {});
  for (;;) {
    if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`);
    const [asked] = turn.steps as readonly [ClientStep];
    if (asked.stepId.replace(/@\d+$/, '') === 'last') return turn.token.length;
    turn = await host.resume(turn.token, [{ stepId: asked.stepId, result: accepted }]);
  }
}
