import { engineOf } from '@mcp-saga/core/program';
import { call, elicit, saga, step, type Program } from '@mcp-saga/core';
import { z } from 'zod';
import type { FigureId } from '../figures.ts';
import { measure, type Candidate, type Timing } from '../harness.ts';
import { journalOf } from '../journal-of.ts';
import type { Finding, Row } from '../row.ts';

const few = 100;
const many = 1100;

// The quickstart question is small. This question costs more, because of JSON.parse and its
// message.
const larger = 'with two fields, and a message made anew';

const floor = 'a bare generator fed from a parsed array';

/**
 * Cost of one more journal entry in a replay: the slope between a short and a long journal. The
 * fixed cost of a replay cancels out.
 */
export const replay: Row = async ({ effort, peers }) => {
  const candidates: Candidate[] = [];
  for (const entries of [few, many]) {
    const all = [
      await replaying('step', stepsThenQuestion(entries)),
      await replaying('elicitation', questions(entries)),
      await replaying(larger, largerQuestions(entries)),
      await replaying('compensate', compensatedSteps(entries)),
      await replaying('input', stepsWithInput(entries)),
      await replaying('call', calls(entries)),
      bareReplay(entries),
      ...(peers === undefined
        ? []
        : [peers.durableFunctions(entries), peers.restate(entries), peers.inngest(entries)]),
    ];
    candidates.push(...all.map(({ name, run }) => ({ name: `${name} ${entries}`, run })));
  }
  const timings = await measure(candidates, effort);
  const slope = (name: string): Timing => {
    const [short, long] = [few, many].map((entries) => timings.of(`${name} ${entries}`)) as [
      Timing,
      Timing,
    ];
    const per = many - few;
    return { cpu: (long.cpu - short.cpu) / per, wall: (long.wall - short.wall) / per };
  };
  const finding = (figure: FigureId, name: string, others: readonly string[] = []): Finding => {
    const { cpu, wall } = slope(name);
    return {
      figure,
      ours: cpu,
      wall,
      peers: others.map((other) => ({ name: other, value: slope(other).cpu })),
    };
  };
  const libraries = peers === undefined ? [] : ['durable-functions', 'restate-sdk-gen', 'inngest'];
  return [
    finding('replay-step', 'step', [floor, ...libraries]),
    finding('replay-elicitation', 'elicitation', [floor, larger]),
    finding('replay-compensate', 'compensate', [floor]),
    finding('replay-input', 'input', [floor]),
    finding('replay-call', 'call', [floor]),
  ];
};

/**
 * Replays the whole journal of a program that has run to its last question, and asks that question
 * again.
 */
async function replaying(name: string, program: Program): Promise<Candidate> {
  const { state, runtime } = await journalOf(program, {}, ({ stepId }) =>
    stepId.startsWith('seat') ? { seat: 'window', bags: 1 } : { target: 'production' },
  );
  const answers = new Map();
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const { status } = await engineOf(program).advance(state, answers, runtime);
        if (status !== 'suspended') throw new Error(`The replay ${status}`);
      }
    },
  };
}

/** Minimal replay: parses the journal, and passes each result to the generator. */
function bareReplay(entries: number): Candidate {
  const text = JSON.stringify(Array.from({ length: entries }, () => ({ id: 'ch_1' })));
  function* charge(): Generator<string, { id: string }, { id: string }> {
    return yield 'charge';
  }
  function* body(): Generator<string, number, { id: string }> {
    let charged = 0;
    for (let index = 0; index < entries; index += 1) charged += (yield* charge()).id.length;
    return charged;
  }
  return {
    name: floor,
    run: (times) => {
      for (let count = 0; count < times; count += 1) {
        const running = body();
        let next = running.next();
        for (const result of JSON.parse(text) as { id: string }[]) next = running.next(result);
        if (next.done !== true) throw new Error('The journal is too short');
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

function compensatedSteps(entries: number): Program {
  return saga({ name: 'bench', version: '1', reuse: 'ok' }, function* () {
    let charged = 0;
    for (let index = 0; index < entries; index += 1)
      charged += (yield* step('charge', () => ({ id: 'ch_1' }), { compensate: () => undefined })).id
        .length;
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${charged}`;
  });
}

function stepsWithInput(entries: number): Program {
  return saga({ name: 'bench', version: '1' }, function* () {
    let charged = 0;
    for (let index = 0; index < entries; index += 1)
      charged += (yield* step('charge', () => ({ id: 'ch_1' }), { input: { cents: 7190 } })).id
        .length;
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${charged}`;
  });
}

function calls(entries: number): Program {
  const charge = saga({ name: 'charge', version: '1' }, function* () {
    return (yield* step('charge', () => ({ id: 'ch_1' }))).id;
  });
  return saga({ name: 'bench', version: '1' }, function* () {
    let charged = 0;
    for (let index = 0; index < entries; index += 1)
      if ((yield* call(charge, {})) === 'ch_1') charged += 1;
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
      bags += (yield* elicit('seat', {
        message: `Which seat shall number ${index} be?`,
        schema: Seat,
      })).bags;
    }
    yield* elicit('last', { message: 'And now?', schema: Target });
    return `${bags}`;
  });
}
