import { elicit, saga, step, type Program } from '@mcp-saga/core';
import { z } from 'zod';
import { measure, type Candidate } from '../harness.ts';
import { journalOf } from '../journal-of.ts';
import type { Row } from '../row.ts';

const few = 100;
const many = 1100;

// The question of the quickstart is small. This one takes longer, by what JSON.parse and the message take.
const larger = 'with two fields, and a message made anew';

/**
 * What one more journalled entry adds to a replay: the slope between a short and a long journal, so that what every
 * replay costs once cancels out.
 */
export const replay: Row = async ({ effort, peers }) => {
  const candidates: Candidate[] = [];
  for (const entries of [few, many]) {
    const all = [
      await replaying('step', stepsThenQuestion(entries)),
      await replaying('elicitation', questions(entries)),
      await replaying(larger, largerQuestions(entries)),
      ...(peers === undefined
        ? []
        : [peers.durableFunctions(entries), peers.restate(entries), peers.inngest(entries)]),
    ];
    candidates.push(...all.map(({ name, run }) => ({ name: `${name} ${entries}`, run })));
  }
  const us = await measure(candidates, effort);
  const slope = (name: string): number =>
    ((us.get(`${name} ${many}`) ?? Number.NaN) - (us.get(`${name} ${few}`) ?? Number.NaN)) / (many - few);
  const others = ['durable-functions', 'restate-sdk-gen', 'inngest']
    .filter(() => peers !== undefined)
    .map((name) => ({ name, value: slope(name) }));
  return [
    { figure: 'replay-step', ours: slope('step'), peers: others },
    {
      figure: 'replay-elicitation',
      ours: slope('elicitation'),
      peers: [{ name: larger, value: slope(larger) }],
    },
  ];
};

/** Replays the whole journal of a program that has run to its last question, and asks that question again. */
async function replaying(name: string, program: Program): Promise<Candidate> {
  const { state, runtime } = await journalOf(program, {}, ({ stepId }) =>
    stepId.startsWith('seat') ? { seat: 'window', bags: 1 } : { target: 'production' },
  );
  const answers = new Map();
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const { status } = await program.advance(state, answers, runtime);
        if (status !== 'suspended') throw new Error(`The replay ${status}`);
      }
    },
  };
}

const Target = z.object({ target: z.string() });

function stepsThenQuestion(entries: number): Program {
  return saga({ name: 'bench', version: '1' }, function* () {
    let charged = 0;
    for (let index = 0; index < entries; index += 1) {
      const { id } = yield* step('charge', () => ({ id: 'ch_1' }));
      charged += id.length;
    }
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${charged}`;
  });
}

function questions(entries: number): Program {
  return saga({ name: 'bench', version: '1' }, function* () {
    let letters = 0;
    for (let index = 0; index < entries; index += 1) {
      const message = 'Please provide the deployment target:';
      const { target } = yield* elicit('target', { message, schema: Target });
      letters += target.length;
    }
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${letters}`;
  });
}

const Seat = z.object({ seat: z.string(), bags: z.number() });

function largerQuestions(entries: number): Program {
  return saga({ name: 'bench', version: '1' }, function* () {
    let bags = 0;
    for (let index = 0; index < entries; index += 1) {
      bags += (yield* elicit('seat', { message: `Which seat shall number ${index} be?`, schema: Seat })).bags;
    }
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${bags}`;
  });
}
