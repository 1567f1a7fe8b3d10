import { OutcomeUnknown, step as stepOfSaga } from '@mcp-saga/server';
import { Provider } from '@mcp-saga/testing';
import { idempotencyKeyOf, step, type PromiseStepOptions } from '@mcp-saga/xstate';
import { fromPromise, type AnyActorLogic, type AnyActorRef } from 'xstate';
import { hash } from '../../../core/test/support/world.ts';
import type { Given } from '../../../xstate/test/support/chart.ts';
import { WalkTooLong, WalkWorld } from '../../../xstate/test/support/walk-world.ts';

/** An effect that happened, whoever has heard of it. */
export interface Act {
  readonly key: string;
  readonly source: string;
  /** What the effect was asked to do. */
  readonly label: string;
  /** Number of the request in which it ran. */
  readonly request: number;
}

/** A call of an undo that ended well. */
interface Undone {
  readonly stepKey: string;
  readonly key: string;
}

/** Options of the steps of a source, without their undo. */
type SourceOptions = Pick<PromiseStepOptions, 'retry' | 'once' | 'reads'> & {
  /** Set for steps with an undo. */
  readonly unknown?: 'report' | 'compensate';
};

/** What the effects of a source do, and how a machine may undo them. */
interface Source {
  readonly isPromise?: true;
  readonly options?: SourceOptions;
  readonly ends?: 'rejects' | 'acts and loses its response' | 'acts at the second attempt';
  readonly undoes?: 'not' | 'at the second attempt' | 'in a step';
}

const report = { unknown: 'report' } as const;
const find = { unknown: 'compensate' } as const;

/** What the states of a machine invoke. Questions are drawn as often as effects. */
const sources: Readonly<Record<string, Source>> = {
  charge: { options: report },
  find: { options: find },
  book: { options: find, undoes: 'in a step' },
  slow: { options: report, undoes: 'at the second attempt' },
  stuck: { options: find, undoes: 'not' },
  lost: { options: report, ends: 'acts and loses its response' },
  doubtful: { options: find, ends: 'acts and loses its response' },
  refused: { options: find, ends: 'rejects' },
  retried: {
    options: { ...report, retry: { attempts: 3, delay: 500, jitter: false } },
    ends: 'acts at the second attempt',
  },
  later: {
    options: { ...find, retry: { attempts: 2, delay: 60_000, jitter: false } },
    ends: 'acts at the second attempt',
  },
  paid: { options: find, isPromise: true },
  sent: { options: report, isPromise: true },
  unsure: { options: find, isPromise: true, ends: 'acts and loses its response' },
  denied: { isPromise: true, ends: 'rejects' },
  posted: { isPromise: true },
  mail: {},
  look: { options: { reads: true } },
  once: { options: { once: true } },
  claimed: { options: { once: true, ...find } },
};

const isUndoable = ({ options }: Source): boolean => options?.unknown !== undefined;
const runsOnce = ({ options }: Source): boolean => options?.once === true;

const questions = ['ask', 'outcome', 'sample', 'ask', 'roots'];
const repeatable = Object.keys(sources).filter((name) => !runsOnce(sources[name] ?? {}));

/** What charts invoke whose effects a repeated request may repeat. */
export const repeatableLeaves: readonly string[] = [
  ...repeatable.flatMap((name, at) => [questions[at % questions.length] ?? 'ask', name]),
  'counter',
];

/** What charts invoke of which some run once, and end in doubt after a crash. */
export const allLeaves: readonly string[] = [...repeatableLeaves, 'once', 'claimed', 'once'];

/** `true` for a source whose effects a machine must undo or name when it fails. */
export function mustBeKnown(source: string): boolean {
  return isUndoable(sources[source] ?? {});
}

/** `true` for a source whose undo must succeed once its result is recorded. */
export function mustBeUndone(source: string): boolean {
  const { isPromise, ends, undoes } = sources[source] ?? {};
  return mustBeKnown(source) && isPromise !== true && undoes !== 'not' && !losesResponse(ends);
}

/** `true` for a source whose end a machine does not await if it leaves its state. */
export function mayBeLeft(source: string): boolean {
  return sources[source]?.isPromise === true;
}

/** `true` for a source that runs once, whatever the process does. */
export function mustRunOnce(source: string): boolean {
  return runsOnce(sources[source] ?? {});
}

const losesResponse = (ends: Source['ends']): boolean => ends === 'acts and loses its response';

/** What the machine of a chart does in the world, and what the world remembers of it. */
export class BankOfMachines extends WalkWorld {
  readonly provider: Provider<string> = new Provider<string>();
  readonly acts: Act[] = [];
  readonly undone: Undone[] = [];
  /** Turn of each request, in order. */
  readonly requests: number[] = [];
  /** IDs of effects that nothing undoes. The kit reads it when a run has ended. */
  readonly harmless: string[] = [];
  /** What actions may do in one run. A run that dies often does all again as often. */
  longest = 400;
  #waiting = 0;
  #opens = false;
  #run = 0;

  /** Forgets a run, when what it left behind has ended. */
  async reset(): Promise<void> {
    this.#run += 1;
    await this.flush();
    this.trace.length = 0;
    this.acts.length = 0;
    this.undone.length = 0;
    this.requests.length = 0;
  }

  /** A request begins. What the one before has left behind dies with its process. */
  async begin(turn: number): Promise<void> {
    if (this.trace.length > this.longest) throw new WalkTooLong();
    this.requests.push(turn);
    await this.flush();
  }

  /** Waits for the effects before it: they end in the order of their labels, one by one. */
  override async gate(label: string, signal?: AbortSignal): Promise<void> {
    const [run, request] = [this.#run, this.requests.length];
    const opened = super.gate(label);
    this.#waiting += 1;
    if (!this.#opens) void this.#openAll();
    await opened;
    this.#waiting -= 1;
    // The run has ended, and nobody sees what its last effects do.
    if (run !== this.#run) throw new WalkTooLong();
    if (request !== this.requests.length) throw new Error('Its process has died.');
    signal?.throwIfAborted();
  }

  async #openAll(): Promise<void> {
    this.#opens = true;
    while (this.#waiting > 0) await this.flush();
    this.#opens = false;
  }

  /** The effects, for `setup`. */
  get actors(): Readonly<Record<string, AnyActorLogic>> {
    return Object.fromEntries(
      Object.entries(sources).map(([name, source]) => [name, this.#logic(name, source)]),
    );
  }

  /** The options of the promises of a machine and of those in it. */
  promiseOptions(machines: readonly string[]): Readonly<Record<string, PromiseStepOptions>> {
    const options: Record<string, PromiseStepOptions> = {};
    for (const [name, source] of Object.entries(sources)) {
      if (source.isPromise !== true) continue;
      for (const path of machines) options[path + name] = this.#optionsOf(name, source);
    }
    return options;
  }

  #logic(name: string, source: Source): AnyActorLogic {
    if (source.isPromise === true) {
      const code = async ({ input, signal, self }: Promised): Promise<unknown> =>
        await this.#act(name, source, {
          input,
          signal,
          attempt: 1,
          idempotencyKey: idempotencyKeyOf(self),
        });
      return fromPromise(code as never);
    }
    const code = async (given: Acting): Promise<unknown> => await this.#act(name, source, given);
    return step(code, this.#optionsOf(name, source) as never) as AnyActorLogic;
  }

  async #act(name: string, { ends, options }: Source, given: Acting): Promise<unknown> {
    const { input, signal, attempt, idempotencyKey: key } = given;
    const label = `${name} ${input.name} ${input.n}`;
    const [base = ''] = pathOf(key).split('#', 1);
    if (!mustBeKnown(name) && !this.harmless.includes(base)) this.harmless.push(base, `${base}#*`);
    // Some hear that they are aborted, and some go on.
    await this.gate(label, hash(label) % 2 === 0 ? signal : undefined);
    if (ends === 'rejects' || (ends === 'acts at the second attempt' && attempt === 1))
      throw new Error(label);
    if (options?.reads === true) return { label };
    this.acts.push({ key, source: name, label, request: this.requests.length });
    if (mustBeKnown(name)) this.provider.do(key, label);
    if (losesResponse(ends)) throw new OutcomeUnknown(label);
    return { label };
  }

  #optionsOf(name: string, { options = {}, undoes }: Source): PromiseStepOptions {
    if (!mustBeKnown(name)) return options as PromiseStepOptions;
    const undo = async (given: Omit<Undoing, 'stepKey'>, stepKey: string): Promise<void> => {
      await this.gate(`undo ${stepKey}`);
      if (undoes === 'not' || (undoes === 'at the second attempt' && given.attempt === 1))
        throw new Error(`not undone: ${stepKey}`);
      this.provider.undo(stepKey);
      this.undone.push({ stepKey, key: given.idempotencyKey });
    };
    const compensate =
      undoes === 'in a step'
        ? function* ({ stepKey }: Undoing) {
            yield* stepOfSaga('unbook', (given) => undo(given, stepKey));
          }
        : (given: Undoing) => undo(given, given.stepKey);
    return { ...options, compensate };
  }
}

/** The path of an effect in its key of the test kit, `do:path` or `do:path~2` of a second saga. */
export function pathOf(key: string): string {
  return key.slice(key.indexOf(':') + 1).replace(/~\d+$/, '');
}

interface Acting {
  readonly input: Given;
  readonly signal: AbortSignal;
  readonly attempt: number;
  readonly idempotencyKey: string;
}

interface Promised {
  readonly input: Given;
  readonly signal: AbortSignal;
  readonly self: AnyActorRef;
}

interface Undoing {
  readonly stepKey: string;
  readonly idempotencyKey: string;
  readonly attempt: number;
}
