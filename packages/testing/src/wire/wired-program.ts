import type { ClientStep, Program } from '@mcp-saga/server';
import type { Outcome, Runtime } from '@mcp-saga/server/internal';
import { wrapProgram } from '../values/wrap-program.ts';
import type { VirtualClock } from '../values/virtual-clock.ts';
import { EffectLedger } from '../world/world-effects.ts';
import { Cutter } from './cutter.ts';

/** State behind the wire. */
export class WireWorld {
  readonly clock: VirtualClock;
  readonly cutter: Cutter = new Cutter();
  readonly ledger: EffectLedger = new EffectLedger();
  /** Questions of the sagas, in order. */
  readonly asked: ClientStep[] = [];
  /** When the saga that waits continues, in milliseconds since the epoch. */
  #due = 0;

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  /** Advances the clock to the end of the last wait, as if the client had waited. */
  awaitDue(): void {
    this.clock.pass(this.#due - this.clock.now());
  }

  suspended({ steps, retryAfterMs = 0 }: Extract<Outcome, { readonly status: 'suspended' }>): void {
    this.asked.push(...steps);
    this.#due = steps.length === 0 ? this.clock.now() + retryAfterMs : 0;
  }
}

/** Wraps a program: runs steps with the clock of the test, and cuts connections after them. */
export function wiredProgram(wired: Program, world: WireWorld): Program {
  const { clock, cutter, ledger } = world;
  return wrapProgram(wired, (engine) => ({
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      const perform: Runtime['effects']['perform'] = async ({
        kind,
        path: id,
        undoes,
        step,
        run,
      }) => {
        const result: unknown = await clock.during(Promise.resolve().then(() => run(step)));
        const { idempotencyKey: key } = step;
        if (kind === 'step' && key !== undefined)
          ledger.note({ id, key, undoes, took: true, standIn: false }, runtime.turn.number);
        cutter.ran(id);
        return result;
      };
      const effects = { ...runtime.effects, perform };
      const outcome = await engine.advance(state, answers, { ...runtime, effects }, end);
      if (outcome.status === 'suspended') world.suspended(outcome);
      return outcome;
    },
  }));
}
