import {
  checkpoint,
  createSagaHost,
  generateKey,
  saga,
  step,
  type Program,
  type SagaTurn,
} from '@mcp-saga/server';
import type { FigureId } from '../figures.ts';
import { measure, type Candidate } from '../harness.ts';
import type { Finding, Row } from '../row.ts';

const steps = 1000;

/**
 * One whole request at 1,000 steps: opens the token, replays, runs one step, and seals. Figures are
 * per step.
 */
export const resume: Row = async ({ effort, peers }) => {
  const candidates = [
    await resuming('steps', chargesInTurns({})),
    await resuming('compensated', chargesInTurns({ compensate: () => undefined })),
    ...(peers === undefined ? [] : [peers.inngest(steps)]),
  ];
  const timings = await measure(candidates, effort);
  const finding = (figure: FigureId, name: string, others: readonly Candidate[]): Finding => {
    const { cpu, wall } = timings.of(name);
    const values = others.map((other) => ({
      name: other.name,
      value: timings.of(other.name).cpu / steps,
    }));
    return { figure, ours: cpu / steps, wall: wall / steps, peers: values };
  };
  return [
    finding('resume', 'steps', candidates.slice(2)),
    finding('resume-compensate', 'compensated', []),
  ];
};

async function resuming(name: string, program: Program): Promise<Candidate> {
  const host = createSagaHost({
    sagas: [program],
    keys: generateKey(),
    name: 'bench',
    testing: { environment: 'production' },
    // Suppresses the warning about a large token on every turn.
    hooks: { onWarning: () => {} },
  });
  const token = suspended(await host.start('bench', {}));
  return {
    name,
    run: async (times) => {
      for (let count = 0; count < times; count += 1) suspended(await host.resume(token));
    },
  };
}

function chargesInTurns(options: { readonly compensate?: () => undefined }): Program {
  return saga({ name: 'bench', version: '1', reuse: 'ok' }, function* () {
    let charged = 0;
    for (let index = 0; ; index += 1) {
      const { id } = yield* step(
        'charge',
        () => ({ id: 'ch_1' }),
        options as { compensate: () => undefined },
      );
      charged += id.length;
      // The first turn ends here; each later one takes one step more.
      if (index + 1 >= steps) yield* checkpoint();
      if (charged < 0) return 'never';
    }
  });
}

function suspended(turn: SagaTurn): string {
  if (turn.status !== 'suspended') throw new Error(`The turn ${turn.status}`, { cause: turn });
  return turn.token;
}
