import {
  all,
  createSagaHost,
  elicit,
  generateKey,
  info,
  memoryStore,
  now,
  patched,
  random,
  saga,
  sleep,
  step,
  uuid,
  type Program,
  type SagaStore,
  type SagaTurn,
  type StepAnswer,
  type Steps,
} from '@mcp-saga/server';
import type { Command } from '@mcp-saga/server/internal';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { deferred } from '../fixtures/deferred.ts';
import { gone, Ok } from './guarded-hosts.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** A part of a random saga. `asks`: what was read decides which question follows. */
type Part =
  | { readonly kind: 'read'; readonly what: keyof typeof reads; readonly asks: boolean }
  | { readonly kind: 'ask' }
  | { readonly kind: 'step' }
  | { readonly kind: 'sleep' }
  | { readonly kind: 'all'; readonly branches: readonly (readonly Part[])[] };

/** Facts that a body can read. Each returns the text that a replay must read again. */
const reads = {
  patched: function* (place: string) {
    return `${yield* patched(place.replaceAll('.', '-'))}`;
  },
  now: function* () {
    return `${yield* now()}`;
  },
  random: function* () {
    return `${yield* random()}`;
  },
  uuid: function* () {
    return yield* uuid();
  },
  info: function* () {
    const { turn, tokenBytes } = yield* info();
    return `${turn} ${tokenBytes}`;
  },
  capabilities: function* () {
    const { capabilities } = yield* info();
    return JSON.stringify(capabilities);
  },
} satisfies Record<string, (place: string) => Steps<string>>;

const simple: fc.Arbitrary<Part> = fc.oneof(
  fc.record({
    kind: fc.constant('read' as const),
    what: fc.constantFrom(...(Object.keys(reads) as (keyof typeof reads)[])),
    asks: fc.boolean(),
  }),
  fc.constantFrom<Part>({ kind: 'ask' }, { kind: 'step' }, { kind: 'step' }, { kind: 'sleep' }),
);
const some = fc.array(simple, { minLength: 1, maxLength: 3 });
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 5, arbitrary: simple },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('all' as const), branches: fc.tuple(some, some) }),
  },
);

/** An interruption of one request. `at`: the step during which it happens, counted from 0. */
interface Fault {
  readonly request: number;
  readonly kind: 'killed before' | 'killed after' | 'aborted' | 'response lost' | 'not stored';
  readonly at?: number;
}

/** What one process reads and does while it serves one request. */
class Process {
  /** What its body read, by place. */
  readonly read = new Map<string, string>();
  readonly ignored: string[] = [];
  steps = 0;
  /** Resolves when the process dies in a step. */
  readonly died = deferred<'died'>();
  readonly abort = new AbortController();
  readonly fault: Fault | undefined;

  constructor(fault: Fault | undefined) {
    this.fault = fault;
  }
}

/**
 * An executed step, and what the body had read when it yielded the step. Another branch may read
 * more until the step begins.
 */
interface Effect {
  readonly place: string;
  readonly read: ReadonlyMap<string, string>;
}

function* play(
  parts: readonly Part[],
  prefix: string,
  stepAt: (place: string) => Command<void>,
  note: (place: string, value: string) => void,
): Steps<void> {
  function* ask(id: string): Steps<void> {
    const options = { message: `${id}?`, schema: Ok, fallback: { ok: false } };
    const outcome = yield* elicit.outcome(id, options);
    note(id, outcome.action === 'accept' ? `ok: ${outcome.content.ok}` : outcome.action);
  }
  for (const [index, one] of parts.entries()) {
    const place = `${prefix}${index}`;
    if (one.kind === 'read') {
      const value = yield* reads[one.what](place);
      note(place, value);
      if (one.asks) yield* ask(`${place}-${/[02468e]/.test(value) ? 'even' : 'odd'}`);
    } else if (one.kind === 'ask') {
      yield* ask(place);
    } else if (one.kind === 'sleep') {
      yield* sleep(60_000);
    } else if (one.kind === 'step') {
      yield* stepAt(place);
    } else {
      yield* all(one.branches.map((branch, at) => play(branch, `${place}.${at}.`, stepAt, note)));
    }
  }
}

/** Serves one saga by processes that know only the key and the store, one for each request. */
class World {
  readonly effects: Effect[] = [];
  readonly #parts: readonly Part[];
  readonly #keys = generateKey();
  readonly #store: SagaStore;
  #now = 1_760_000_000_000;
  #requests = 0;

  constructor(parts: readonly Part[]) {
    this.#parts = parts;
    this.#store = memoryStore({ clock: () => this.#now });
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  /** Sends a request. `died`: the process ended in a step, and nobody hears of it. */
  async send(
    process: Process,
    token: string | undefined,
    answers: readonly StepAnswer[],
  ): Promise<SagaTurn | 'died'> {
    this.#requests += 1;
    const host = createSagaHost({
      sagas: [this.#saga(process)],
      keys: this.#keys,
      name: 'reads',
      store: storeWithGuard(
        () => (process.fault?.kind === 'not stored' ? { finish: gone } : {}),
        this.#store,
      ),
      hooks: {
        onError: () => undefined,
        onReject: () => undefined,
        onTurn: () => undefined,
        onWarning: () => undefined,
        onIgnoredAnswer: ({ stepId, why }) => void process.ignored.push(`${stepId}: ${why}`),
      },
      testing: {
        environment: 'production',
        clock: () => this.#now,
        sleep: async (ms) => this.pass(ms),
      },
    });
    // Each request declares something else, and some clients cannot be asked.
    const declared = { experimental: { [`request${this.#requests}`]: {} } };
    const capabilities = this.#requests % 3 === 0 ? declared : { ...declared, elicitation: {} };
    const caller = { capabilities };
    const { signal } = process.abort;
    const turn =
      token === undefined
        ? host.start('reads', undefined, { caller })
        : host.resume(token, answers, { caller, signal });
    turn.catch(() => undefined);
    return await Promise.race([turn, process.died.promise]);
  }

  #saga(process: Process): Program {
    const note = (place: string, value: string): void => {
      // The body of one process goes on in further turns: it reads nothing twice.
      expect(process.read.get(place) ?? value).toBe(value);
      process.read.set(place, value);
    };
    const stepAt = (place: string): Command<void> => {
      const read = new Map(process.read);
      return step(place, async () => {
        const { fault } = process;
        const isHit = fault?.at === process.steps;
        process.steps += 1;
        if (isHit && fault.kind === 'aborted') process.abort.abort(new Error('closed'));
        const dies = isHit && fault.kind !== 'aborted';
        if (!dies || fault.kind === 'killed after') this.effects.push({ place, read });
        if (!dies) return;
        process.died.resolve('died');
        await deferred().promise;
      });
    };
    const parts = this.#parts;
    return saga({ name: 'reads', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* play(parts, 's', stepAt, note);
      return 'done';
    });
  }
}

/** Answers a question: always the same, and about every second one with a refusal. */
function answerTo(stepId: string): StepAnswer {
  const accepts = stepId === 'go' || stepId.length % 2 === 0;
  return {
    stepId,
    result: accepts ? { action: 'accept', content: { ok: true } } : { action: 'decline' },
  };
}

/** Asserts that the body got each answer of the request. */
function assertTaken({ read }: Process, answers: readonly StepAnswer[]): void {
  for (const answer of answers) {
    if (answer.stepId === 'go' || !('result' in answer)) continue;
    const { action } = answer.result as { readonly action: string };
    const taken = action === 'accept' ? 'ok: true' : action;
    // The path of a question in a branch begins with the name of the branch.
    const place = answer.stepId.replace(/^.*\//, '');
    expect([place, read.get(place)]).toEqual([place, taken]);
  }
}

const mostRequests = 60;

/** Plays a saga to its end, with one interruption. Returns the steps of each request. */
async function assertEqualReads(parts: readonly Part[], fault?: Fault): Promise<readonly number[]> {
  const world = new World(parts);
  const steps: number[] = [];
  let token: string | undefined;
  let answers: readonly StepAnswer[] = [];
  /** What the client's saga has read so far. */
  let known: ReadonlyMap<string, string> = new Map();
  let pendingFault = fault;
  for (let request = 0; request < mostRequests; request += 1) {
    const isHit = pendingFault?.request === request;
    const process = new Process(isHit ? pendingFault : undefined);
    if (isHit) pendingFault = undefined;
    const turn = await world.send(process, token, answers).catch(() => 'died' as const);
    steps.push(process.steps);
    if (turn === 'died' || process.fault?.kind === 'response lost') {
      expect(process.fault).toBeDefined();
      // Longer than the lease of a dead process.
      world.pass(90_000);
      continue;
    }
    expect(turn).toMatchObject({ status: expect.stringMatching(/^(?:suspended|completed)$/) });
    expect(process.ignored).toEqual([]);
    // A stored response needs no replay.
    if (process.read.size > 0) {
      assertTaken(process, answers);
      for (const [place, value] of known)
        expect([place, process.read.get(place)]).toEqual([place, value]);
      known = process.read;
    }
    if (turn.status !== 'suspended') break;
    ({ token } = turn);
    answers = turn.steps.map(({ stepId }) => answerTo(stepId));
    world.pass(turn.retryAfterMs ?? 1_000);
  }
  // An effect that ran twice had the same reasons both times.
  for (const { place, read } of world.effects) {
    for (const other of world.effects) {
      if (other.place !== place) continue;
      for (const [at, value] of read)
        expect([place, at, other.read.get(at) ?? value]).toEqual([place, at, value]);
    }
  }
  return steps;
}

it('a body reads the same facts in each replay, after every interruption of an unchanged saga', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), async (parts) => {
      const steps = await assertEqualReads(parts);
      for (const [request, count] of steps.entries()) {
        // A repeated start begins another saga.
        if (request === 0) continue;
        await assertEqualReads(parts, { request, kind: 'response lost' });
        await assertEqualReads(parts, { request, kind: 'not stored' });
        for (let at = 0; at < count; at += 1)
          for (const kind of ['killed before', 'killed after', 'aborted'] as const)
            await assertEqualReads(parts, { request, kind, at });
      }
    }),
    { numRuns: 15 },
  );
});
