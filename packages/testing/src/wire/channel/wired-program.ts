import type { ClientStep, Program } from '@mcp-saga/server';
import type { Runtime } from '@mcp-saga/server/internal';
import type { Outcome } from '@mcp-saga/server/internal';
import type { EffectLedger } from '../../world/effect-ledger.ts';
import { messageOf } from '../../report/question-text.ts';
import type { VirtualClock } from '../../values/virtual-clock.ts';
import { wrapProgram } from '../../values/wrap-program.ts';
import type { Cutter } from './cutter.ts';

/** State behind the wire. */
export class WireWorld {
  readonly clock: VirtualClock;
  readonly cutter: Cutter;
  readonly ledger: EffectLedger;
  readonly #asked: ClientStep[] = [];

  constructor(parts: Pick<WireWorld, 'clock' | 'cutter' | 'ledger'>) {
    this.clock = parts.clock;
    this.cutter = parts.cutter;
    this.ledger = parts.ledger;
  }

  asks(steps: readonly ClientStep[]): void {
    this.#asked.push(...steps);
  }

  /** Finds the step that asked, if the dialect does not name it. */
  idOf(type: ClientStep['type'], message: string): string {
    const found = this.#asked.findLast(
      (step) => step.type === type && (type === 'roots' || message.startsWith(messageOf(step))),
    );
    return found?.stepId ?? '';
  }
}

/** Wraps a program: runs steps with the clock of the test, and cuts connections after them. */
export function wiredProgram(wired: Program, world: WireWorld): Program {
  const { clock, cutter, ledger } = world;
  return wrapProgram(wired, (program) => ({
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      const perform: Runtime['perform'] = async ({ kind, path: id, undoes, step, run }) => {
        const result: unknown = await clock.during(Promise.resolve().then(() => run(step)));
        const { idempotencyKey: key } = step;
        if (kind === 'step' && key !== undefined)
          ledger.note({ id, key, undoes, took: true, standIn: false }, runtime.turn);
        cutter.ran(id);
        return result;
      };
      const outcome = await program.advance(state, answers, { ...runtime, perform }, end);
      if (outcome.status === 'suspended') world.asks(outcome.steps);
      return outcome;
    },
  }));
}
