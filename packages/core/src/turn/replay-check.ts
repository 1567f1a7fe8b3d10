import { assertAwaited, awaitedFacts } from '../replay/replay-mismatch.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EndRequest } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { undoMark } from '../values/path.ts';
import { encode } from '../values/codec.ts';
import type { ExecutionEnd } from '../undo/ending.ts';
import { errorLink, ReplayMismatch, type StepFacts } from '../values/errors.ts';
import { Execution } from '../replay/execution.ts';
import { decodeHead } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import { startBody, type GeneratorProgramOptions } from '../replay/body.ts';
import { Turn } from './turn.ts';

/** Number of replays that are compared: even a body that tosses a coin differs in one of them. */
const comparedReplays = 32;

/**
 * Takes a turn and replays the turn at once, in development. Without the check, only suspended
 * sagas would differ, and only in a later request.
 *
 * A replay differs for one of two reasons. If replays differ from each other, the body itself
 * varies: it reads a clock, randomness, or a variable outside of itself. If they agree, code of a
 * step has assigned a variable of the body, because a replay skips only the code of steps.
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
      if (difference !== undefined) this.#warn(difference, await this.#varies(outcome));
    }
    return outcome;
  }

  /** `true` if replays of a turn differ from each other. */
  async #varies(outcome: Outcome): Promise<boolean> {
    const { state } = outcome as { readonly state?: ProgramState };
    if (state === undefined) return false;
    const traces = new Set([await this.#traceOf(state)]);
    letMillisecondPass();
    for (let count = 1; count < comparedReplays && traces.size === 1; count += 1)
      traces.add(await this.#traceOf(state));
    return traces.size > 1;
  }

  /** What a replay asks for, or how it ends, as a string. */
  async #traceOf(state: ProgramState): Promise<string> {
    try {
      const replayed = this.#replay(state);
      const asked = Array.from(replayed?.pending.values() ?? [], factsOf);
      const end = replayed?.phase.end;
      return JSON.stringify([asked, end === undefined ? end : await this.#resultOf(end)]);
    } catch (error) {
      return error instanceof ReplayMismatch ? JSON.stringify(error.asked.map(factsOf)) : '';
    }
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
    const { name, body, acceptsReuse, suspends } = this.#options;
    const { limits, observer } = this.#runtime;
    const head = decodeHead(state.head);
    if (head.mismatch !== undefined) return undefined;
    const journal = new Journal(state, limits.maxJournalEntries);
    const execution = new Execution(journal, {
      acceptsReuse,
      suspends,
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

  #warn(difference: string, varies: boolean): void {
    const ran = Array.from(this.#ran, (path) => `'${path}'`).join(', ');
    const cause = varies
      ? 'The body gives something else each time it runs, and it runs again in each turn. Read the time with now(), ' +
        'randomness with random() or uuid(), and variables outside of the body in a step.'
      : `Code of ${ran} assigned a variable of the body, and a replay does not run this code again. Return the value from ` +
        'the step instead.';
    this.#runtime.observer.warn?.(
      `Saga '${this.#options.name}': ${difference} differs when this turn is replayed. ${cause} See ${errorLink('not_deterministic')}`,
    );
  }
}

function factsOf({ path, fingerprint }: Pick<StepFacts, 'path' | 'fingerprint'>): unknown {
  return [path, fingerprint];
}

/**
 * Lets the clock of the process go on, so that a body that reads it differs. Bounded, because some
 * runtimes stop the clock while code runs.
 */
function letMillisecondPass(): void {
  const before = Date.now();
  let spins = 0;
  while (Date.now() === before && spins < 100_000) spins += 1;
}

function ignore(): void {}
