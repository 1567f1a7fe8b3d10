import { assertAwaited, awaitedFacts } from '../replay/replay-mismatch.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EndRequest } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoMark } from '../values/path.ts';
import { encode } from '../values/codec.ts';
import type { ExecutionEnd } from '../undo/ending.ts';
import { ReplayMismatch } from '../values/errors.ts';
import { Execution } from '../replay/execution.ts';
import { decodeHead } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import { startBody, type GeneratorProgramOptions } from '../replay/body.ts';
import { Turn } from './turn.ts';

/**
 * Takes a turn and replays the turn at once, in development. Variables of the body that a step
 * assigns are missing in a replay, which skips the code. Without the check, only suspended sagas
 * would differ.
 */
export class ReplayCheck {
  readonly #options: GeneratorProgramOptions;
  readonly #runtime: Runtime;
  /** Paths of the executed code in this turn, without undos. */
  readonly #ran = new Set<string>();

  constructor(options: GeneratorProgramOptions, runtime: Runtime) {
    this.#options = options;
    this.#runtime = runtime;
  }

  /** Takes the turn, and warns if the replay issues another request or has another result. */
  async take(
    state: ProgramState,
    answers: ReadonlyMap<string, ClientAnswer>,
    end: EndRequest | undefined,
  ): Promise<Outcome> {
    const runtime = this.#runtime;
    const noted: Runtime = {
      ...runtime,
      effects: {
        ...runtime.effects,
        perform: (call) => {
          if (!call.path.startsWith(undoMark)) this.#ran.add(call.path);
          return runtime.effects.perform === undefined
            ? call.run(call.step)
            : runtime.effects.perform(call);
        },
      },
    };
    const turn = new Turn(this.#options, state, noted, { answers, end });
    const outcome = await turn.take();
    // Only executed code can assign a variable that replay does not assign.
    if (this.#ran.size > 0) {
      const difference = await this.#difference(outcome, turn.pending);
      if (difference !== undefined) this.#warn(difference);
    }
    return outcome;
  }

  /** Finds the first difference between a turn and its replay. */
  async #difference(outcome: Outcome, pending: Turn['pending']): Promise<string | undefined> {
    try {
      if (outcome.status === 'suspended' && outcome.undoes !== true) {
        const replayed = this.#replay(outcome.state)?.pending;
        const other = [...pending.values()].find(
          ({ path, fingerprint }) =>
            replayed !== undefined && replayed.get(path)?.fingerprint !== fingerprint,
        );
        return other === undefined ? undefined : `'${other.path}'`;
      }
      if (outcome.status !== 'completed' || outcome.state === undefined) return undefined;
      const end = this.#replay(outcome.state)?.phase.end;
      if (end === undefined) return undefined;
      const result = await this.#resultOf(end);
      return result === encode(outcome.result) ? undefined : 'the result';
    } catch (error) {
      // Results that cannot be encoded are not compared.
      if (!(error instanceof ReplayMismatch)) return undefined;
      const [asked = error.recorded] = error.asked;
      return `'${asked.path}'`;
    }
  }

  /** Result of a replay as text. Undefined without a valid result. */
  async #resultOf(end: ExecutionEnd): Promise<string | undefined> {
    if (!('result' in end)) return undefined;
    const result = await this.#runtime.saga.checkResult(end.result).catch(() => undefined);
    return result === undefined ? undefined : encode(result);
  }

  /** Replays a state. Undefined if the journal does not fit the code. */
  #replay(state: ProgramState): Execution | undefined {
    const { name, body, declaresForks } = this.#options;
    const { limits, saga, observer } = this.#runtime;
    const head = decodeHead(state.head);
    if (head.mismatch !== undefined) return undefined;
    const journal = new Journal(state, limits.maxJournalEntries, saga.engine);
    const execution = new Execution(journal, {
      declaresForks,
      runtime: {
        ...this.#runtime,
        observer: { ...observer, isStrict: false, warn: undefined, observe: ignore, threw: ignore },
      },
      tell: ignore,
      now: () => this.#runtime.time.now(),
      info: ignore,
    });
    const input = journal.skipInput(head.input);
    journal.freeze(awaitedFacts(head));
    execution.start(() => startBody(name, body, input));
    assertAwaited(head, execution, journal);
    return execution;
  }

  #warn(difference: string): void {
    const ran = Array.from(this.#ran, (path) => `'${path}'`).join(', ');
    this.#runtime.observer.warn?.(
      `Saga '${this.#options.name}': ${difference} differs when this turn is replayed. Code of ${ran} may assign a variable of ` +
        'the body, which replay does not repeat. Return the value from the step instead.',
    );
  }
}

function ignore(): void {}
