import {
  checkpoint,
  createSagaHost,
  generateKey,
  memoryStore,
  saga,
  step,
  type SagaHost,
} from '@mcp-saga/server';
import { measure, type Candidate } from '../harness.ts';
import type { Finding, Row } from '../row.ts';

const lengths = [50, 100, 200, 400] as const;

/** Time of a step with commitEach and without it, for growing numbers of steps. */
export const commitEach: Row = async ({ effort }) => {
  const timings = await measure(
    lengths.flatMap((steps) => [candidate(steps, true), candidate(steps, false)]),
    effort,
  );
  // All lengths have the same ratio if the time grows linearly.
  return lengths.map((steps): Finding => {
    const ours = timings.of(nameOf(steps, true));
    const without = timings.peerOf(nameOf(steps, true), nameOf(steps, false));
    return {
      figure: `commit-each-${steps}`,
      ours: ours.cpu / steps,
      wall: ours.wall / steps,
      peers: [{ name: 'without commitEach', value: without / steps }],
    };
  });
};

function candidate(steps: number, commits: boolean): Candidate {
  const host = hostOf(steps, commits);
  return {
    name: nameOf(steps, commits),
    run: async (times) => {
      for (let count = 0; count < times; count += 1) {
        const begun = await host.start('bench', {});
        if (begun.status !== 'suspended') throw new Error(`The turn ${begun.status}`);
        const { status } = await host.resume(begun.token);
        if (status !== 'completed') throw new Error(`The saga ${status}`);
      }
    },
  };
}

function nameOf(steps: number, commits: boolean): string {
  return `${steps} ${commits}`;
}

function hostOf(steps: number, commits: boolean): SagaHost {
  const options = { name: 'bench', version: '1' } as const;
  const long = saga({ ...options, commitEach: commits }, function* () {
    // The first step follows a token, with and without commitEach.
    yield* checkpoint();
    for (let index = 0; index < steps; index += 1)
      yield* step('one', () => index, { key: `${index}` });
    return 'done';
  });
  return createSagaHost({
    sagas: [long],
    keys: generateKey(),
    name: 'bench',
    testing: { environment: 'production' },
    store: memoryStore(),
    hooks: { onWarning: () => {}, onTurn: () => {} },
  });
}
