import { checkpoint, createSagaHost, saga, step, generateKey, type SagaTurn } from '@mcp-saga/server';
import { measure, type Candidate } from '../harness.ts';
import type { Row } from '../row.ts';

const steps = 1000;

/** One whole request at a thousand steps: open, replay, one step, seal. Figures are for each of the steps. */
export const resume: Row = async ({ effort, peers }) => {
  const candidates = [await resuming(), ...(peers === undefined ? [] : [peers.inngest(steps)])];
  const us = await measure(candidates, effort);
  const perStep = candidates.map(({ name }) => ({ name, value: (us.get(name) ?? Number.NaN) / steps }));
  return [{ figure: 'resume', ours: perStep[0]?.value ?? Number.NaN, peers: perStep.slice(1) }];
};

async function resuming(): Promise<Candidate> {
  const host = createSagaHost({
    sagas: [chargesInTurns],
    keys: generateKey(),
    audience: 'bench',
    testing: { environment: 'production' },
    // It would say on every turn that the token grows large.
    hooks: { onWarning: () => {} },
  });
  const token = suspended(await host.start('bench', {}));
  return {
    name: 'mcp-saga',
    run: async (times) => {
      for (let count = 0; count < times; count += 1) suspended(await host.resume(token));
    },
  };
}

const chargesInTurns = saga({ name: 'bench', version: '1' }, function* () {
  let charged = 0;
  for (let index = 0; ; index += 1) {
    const { id } = yield* step('charge', () => ({ id: 'ch_1' }));
    charged += id.length;
    // The first turn ends here; each later one takes one step more.
    if (index + 1 >= steps) yield* checkpoint();
    if (charged < 0) return 'never';
  }
});

function suspended(turn: SagaTurn): string {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return turn.token;
}
