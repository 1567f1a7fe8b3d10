import type { ClientStep } from '@mcp-saga/core';
import {
  all,
  createSagaHost,
  elicit,
  generateKey,
  saga,
  type Program,
  type SagaHost,
  type SagaTurn,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga } from '@mcp-saga/xstate';
import { setup } from 'xstate';
import * as z from 'zod';
import { compare } from '../compare.ts';
import { measure, type Candidate, type Effort } from '../harness.ts';
import { answers, input, rolloutGenerator, rolloutMachine } from '../rollout.ts';
import type { Finding, Row } from '../row.ts';

/**
 * One whole request of a machine: opens the token, restores the machine, takes an answer, runs a
 * step with an undo, asks again, and seals the next token. Compares it with a generator that does
 * the same, and a machine of many parallel regions with one of few.
 */
export const machineRequest: Row = async ({ effort }) => {
  const machine = hostOf(rolloutMachine());
  const generator = hostOf(rolloutGenerator());
  const [seen, expected] = [await transcriptOf(machine), await transcriptOf(generator)];
  if (seen !== expected) throw new Error(`Not the same: ${seen} and ${expected}`);
  const candidates = [
    resuming('a machine', machine, await turnOf(machine, 1)),
    resuming('the same as a generator', generator, await turnOf(generator, 1)),
  ] as const;
  await compile(candidates, effort);
  return [
    await compare('machine-request', candidates, inLongTurns(effort)),
    await ofRegions(effort),
  ];
};

/** A turn of other rows holds a dozen of these requests, and hardly any garbage collection. */
function inLongTurns(effort: Effort): Effort {
  return { ...effort, turnMs: effort.turnMs * 5 };
}

/**
 * Runs thousands of requests of each candidate, in turns. V8 compiles the code of a whole request
 * no sooner, and before that, the time of the interpreter hides the difference.
 */
async function compile(candidates: readonly Candidate[], { warmUpMs }: Effort): Promise<void> {
  const times = Math.round(warmUpMs);
  for (let count = 0; count < 10; count += 1) for (const { run } of candidates) await run(times);
}

const few = 10;
const many = 50;

/** Cost of a region in a request that answers the question of one region, and moves no other. */
async function ofRegions(effort: Effort): Promise<Finding> {
  const candidates: Candidate[] = [];
  for (const count of [1, few, many]) {
    for (const [name, program] of [
      ['machine', regionsMachine(count)],
      ['generator', regionsGenerator(count)],
    ] as const) {
      const host = hostOf(program);
      candidates.push(resuming(`${name} ${count}`, host, await turnOf(host, 0)));
    }
  }
  await compile(candidates, effort);
  const timings = await measure(candidates, inLongTurns(effort));
  const name = `machine ${many}`;
  const { cpu, wall } = timings.of(name);
  const peer = (other: string, count: number): number => timings.peerOf(name, other) / count;
  return {
    figure: 'machine-request-regions',
    ours: cpu / many,
    wall: wall / many,
    peers: [
      { name: `of ${few}`, value: peer(`machine ${few}`, few) },
      { name: 'the only one', value: peer('machine 1', 1) },
      { name: `a branch of ${many} of a generator`, value: peer(`generator ${many}`, many) },
    ],
  };
}

function hostOf(program: Program): SagaHost {
  return createSagaHost({
    sagas: [program],
    keys: generateKey(),
    name: 'bench',
    testing: { environment: 'production' },
    // Suppresses the warning about a large token on every turn.
    hooks: { onWarning: () => {} },
  });
}

/** Takes the turn after a token again and again. */
function resuming(name: string, host: SagaHost, { token, steps }: SuspendedTurn): Candidate {
  const given = answersTo(steps);
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) suspended(await host.resume(token, given));
    },
  };
}

/** Returns the turn of a saga in which some questions have been answered. */
async function turnOf(host: SagaHost, answered: number): Promise<SuspendedTurn> {
  let turn = suspended(await host.start('rollout', input));
  for (let count = 0; count < answered; count += 1)
    turn = suspended(await host.resume(turn.token, answersTo(turn.steps)));
  return turn;
}

/** Returns all that a client sees of a saga. */
async function transcriptOf(host: SagaHost): Promise<string> {
  const seen: unknown[] = [];
  let turn = await host.start('rollout', input);
  while (turn.status === 'suspended') {
    seen.push(turn.steps.map(({ stepId, ...asked }) => [idIn(stepId), asked]));
    turn = await host.resume(turn.token, answersTo(turn.steps));
  }
  const { sagaId: _, ...ended } = turn;
  return JSON.stringify([...seen, ended]);
}

/** Answers the first of some questions. */
function answersTo([asked]: SuspendedTurn['steps']): Parameters<SagaHost['resume']>[1] {
  const { stepId } = asked as ClientStep;
  const content = answers[idIn(stepId)];
  return [{ stepId, result: { action: 'accept', content: content ?? { sure: true } } }];
}

/** Returns the ID of a question without the turn, which a machine adds. */
function idIn(stepId: string): string {
  return stepId.replace(/@\d+$/, '');
}

function suspended(turn: SagaTurn): SuspendedTurn {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return turn;
}

const Sure = z.object({ sure: z.boolean() });
const ask = { message: 'And now?', schema: Sure };

/** Regions whose questions are all asked at once. Each has one more question. */
function regionsMachine(count: number): Program {
  const states = Array.from({ length: count }, (_, index) => [
    `region${index}`,
    {
      initial: 'first',
      states: {
        first: { invoke: { id: `ask${index}`, src: 'ask', onDone: 'second' } },
        second: { invoke: { id: `then${index}`, src: 'ask', onDone: 'ended' } },
        ended: { type: 'final' },
      },
    },
  ]);
  const machine = setup({ actors: { ask: elicitInMachine(ask) } }).createMachine({
    id: 'rollout',
    type: 'parallel',
    states: Object.fromEntries(states) as {},
    output: 'done',
  });
  return machineSaga({ name: 'rollout', version: '1' }, machine as never) as Program;
}

/** Branches that do the same as the regions. */
function regionsGenerator(count: number): Program {
  return saga({ name: 'rollout', version: '1' }, function* () {
    yield* all(
      Array.from({ length: count }, function* (_, index) {
        yield* elicit(`ask${index}`, ask);
        yield* elicit(`then${index}`, ask);
      }),
    );
    return 'done';
  });
}
