import {
  abort,
  all,
  approval,
  createSagaHost,
  elicit,
  memoryStore,
  pivot,
  poll,
  saga,
  SagaHostError,
  sleep,
  step,
  StepTimedOut,
  TokenRefused,
  type SagaStore,
  type Program,
  type SagaHost,
  type SagaQueue,
  type SagaTurn,
  type Steps,
} from '@mcp-saga/server';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { keyOf } from '../fixtures/host.ts';
import { hour, minute, Ok, type Sent } from './queued.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const day = 24 * hour;

/** Part of a random saga. */
export type Part =
  | { readonly kind: 'step' | 'pivot' | 'abort' }
  | { readonly kind: 'sleep' | 'timed ask' | 'approval'; readonly hours: number }
  | { readonly kind: 'ask' }
  | { readonly kind: 'poll' | 'ask and poll'; readonly times: number };

/** Chances of faults, each from 0 to 1. */
export interface Faults {
  readonly draw: () => number;
  /** A process dies before or after a call of a step, the guard, or the queue. */
  readonly dies: number;
  /** The queue rejects a message. */
  readonly rejects: number;
  /** The queue keeps a delivered message, to deliver it again. */
  readonly repeats: number;
  /** `true` if the queue keeps one message for each saga. */
  readonly replaces: boolean;
}

/** One saga between a client, a queue, and processes that die. */
export class HostileWorld {
  readonly clock: TestClock = testClock();
  /** Messages that the queue has. */
  pool: Sent[] = [];
  /** Names of the effects by idempotency key. */
  readonly effects = new Map<string, string>();
  readonly undone = new Set<string>();
  readonly ends = new Set<string>();
  readonly problems: string[] = [];
  /** Links by the index of their part. */
  readonly links = new Map<number, string>();
  /** What pages told people, and what the saga decided. */
  readonly told = new Map<number, Set<string>>();
  readonly decided = new Map<number, Set<string>>();
  readonly #polled = new Map<number, number>();
  readonly #faults: Faults;
  readonly #store: SagaStore;
  readonly #program: Program;
  #host: SagaHost;
  #death: { readonly promise: Promise<'died'>; kill(): void } = newDeath();
  #isSafe = true;

  constructor(parts: readonly Part[], faults: Faults) {
    this.#faults = faults;
    this.#store = memoryStore({ clock: this.clock });
    this.#program = this.#sagaOf(parts);
    this.#host = this.#start();
  }

  /** Names of effects that were not undone. */
  get standing(): readonly string[] {
    return [...this.effects].filter(([key]) => !this.undone.has(key)).map(([, name]) => name);
  }

  /** Runs a request on a process that may die. Resolves to `died` with its process. */
  async attempt<T>(
    request: (host: SagaHost) => Promise<T>,
    isSafe: boolean = false,
  ): Promise<T | 'died'> {
    this.#isSafe = isSafe;
    const done = await Promise.race([request(this.#host), this.#death.promise]);
    if (done === 'died') {
      this.#death = newDeath();
      this.#host = this.#start();
      // No process may take over the turn of a dead process before its lease has expired.
      this.clock.now += 2 * minute;
    }
    return done;
  }

  /** Answers by the newest link of a random approval, and notes what the page says. */
  async answer(draw: () => number, isSafe: boolean): Promise<void> {
    const [index, url] = [...this.links][Math.floor(draw() * this.links.size)] ?? [0, ''];
    if (url === '') return;
    const body = new URLSearchParams({ decision: draw() < 0.5 ? 'approve' : 'deny' });
    const page = await this.attempt(
      (host) => host.answer(new Request(url, { method: 'POST', body })),
      isSafe,
    );
    const [, told] = page === 'died' ? [] : (/<h1[^>]*>You (\w+)/.exec(await page.text()) ?? []);
    if (told !== undefined) noted(this.told, index, told);
  }

  #start(): SagaHost {
    const death = this.#death;
    /** Calls a function, before or after which the process may die. */
    const risky =
      <A extends readonly unknown[], R>(call: (...args: A) => R) =>
      async (...args: A): Promise<Awaited<R>> => {
        await this.#mayDie(death);
        const result = await call(...args);
        await this.#mayDie(death);
        return result;
      };
    const kept = this.#store;
    return createSagaHost({
      sagas: [this.#program],
      keys: keyOf('k', 7),
      name: 'shop',
      store: Object.assign(
        storeWithGuard(
          (guard) => ({
            begin: risky((...args) => guard.begin(...args)),
            finish: risky((...args) => guard.finish(...args)),
            release: risky((...args) => guard.release(...args)),
            forget: risky((...args) => guard.forget(...args)),
            claim: risky((...args) => guard.claim(...args)),
          }),
          kept,
        ),
        {
          write: risky((...args: Parameters<SagaStore['write']>) => kept.write(...args)),
          remove: risky((...args: Parameters<SagaStore['remove']>) => kept.remove(...args)),
          read: risky((...args: Parameters<SagaStore['read']>) => kept.read(...args)),
          append: risky((...args: Parameters<SagaStore['append']>) => kept.append(...args)),
          list: risky((...args: Parameters<SagaStore['list']>) => kept.list(...args)),
          discard: risky((...args: Parameters<SagaStore['discard']>) => kept.discard(...args)),
          close: risky((...args: Parameters<SagaStore['close']>) => kept.close(...args)),
        },
      ),
      queue: this.#queueOf(risky),
      url: 'https://shop.example',
      limits: { maxHold: 0, tokenTtl: 20 * day, maxLifetime: 60 * day },
      testing: { environment: 'production', clock: this.clock },
      hooks: {
        onTurn: ({ status, uncompensated = [] }) => {
          if (status !== 'suspended') this.ends.add(status);
          for (const { stepId } of uncompensated) this.problems.push(`not undone: ${stepId}`);
        },
        onError: () => undefined,
        onReject: () => undefined,
        onIgnoredAnswer: () => undefined,
        onWarning: () => undefined,
      },
    });
  }

  #queueOf(
    risky: <A extends readonly unknown[], R>(
      call: (...args: A) => R,
    ) => (...args: A) => Promise<Awaited<R>>,
  ): SagaQueue {
    const { draw, rejects, replaces } = this.#faults;
    return {
      send: risky((message, at) => {
        if (!this.#isSafe && draw() < rejects) throw new Error('the queue is down');
        if (replaces) {
          if (this.pool.some((sent) => sent.message.turn > message.turn)) return;
          this.pool = [];
        }
        this.pool.push({ message, at });
      }),
      ...(replaces ? { remove: risky(() => void (this.pool = [])) } : {}),
    };
  }

  async #mayDie(death: { readonly promise: Promise<'died'>; kill(): void }): Promise<void> {
    if (death !== this.#death) return await new Promise(() => undefined);
    if (this.#isSafe || this.#faults.draw() >= this.#faults.dies) return;
    death.kill();
    await new Promise(() => undefined);
  }

  #sagaOf(parts: readonly Part[]): Program {
    const act = (index: number): Steps<unknown> =>
      step(
        `step${index}`,
        async ({ idempotencyKey }) => {
          const own = this.#death;
          await this.#mayDie(own);
          this.effects.set(idempotencyKey, `step${index}`);
          await this.#mayDie(own);
        },
        {
          compensate: ({ stepKey }) => this.#undo(stepKey),
          unknown: 'compensate',
        },
      ) as never;
    const polls = (index: number, times: number): Steps<unknown> =>
      poll(
        `poll${index}`,
        () => {
          const asked = (this.#polled.get(index) ?? 0) + 1;
          this.#polled.set(index, asked);
          return asked > times ? true : undefined;
        },
        { every: hour, timeout: 5 * day },
      ) as never;
    const { links, decided } = this;
    return saga({ name: 'random', version: '1' }, function* (): Steps<string> {
      for (const [index, part] of parts.entries()) {
        switch (part.kind) {
          case 'step':
            yield* act(index);
            break;
          case 'pivot':
            yield* pivot(`pivot${index}`);
            break;
          case 'abort':
            yield* abort('enough');
            break;
          case 'sleep':
            yield* sleep(part.hours * hour);
            break;
          case 'ask':
            yield* elicit(`ask${index}`, { message: 'Sure?', schema: Ok });
            break;
          case 'timed ask':
            try {
              yield* elicit(`ask${index}`, {
                message: 'Sure?',
                schema: Ok,
                timeout: part.hours * hour,
              });
            } catch (error) {
              if (!(error instanceof StepTimedOut)) throw error;
            }
            break;
          case 'approval': {
            const decision = yield* approval(`ask${index}`, {
              message: 'Sure?',
              link: 'accept',
              timeout: part.hours * hour,
              deliver: ({ url }) => void links.set(index, url),
            });
            const result = decision.approved ? 'approved' : decision.reason;
            yield* step(`decide${index}`, () => noted(decided, index, result));
            break;
          }
          case 'poll':
            yield* polls(index, part.times);
            break;
          case 'ask and poll':
            yield* all({
              ask: elicit(`ask${index}`, { message: 'Sure?', schema: Ok }),
              poll: polls(index, part.times),
            } as never);
        }
      }
      return 'done';
    });
  }

  async #undo(stepKey: string): Promise<void> {
    const own = this.#death;
    await this.#mayDie(own);
    this.undone.add(stepKey);
    await this.#mayDie(own);
  }
}

function noted(values: Map<number, Set<string>>, index: number, value: string): void {
  values.set(index, (values.get(index) ?? new Set()).add(value));
}

/** Draws from [0, 1): the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function newDeath(): { readonly promise: Promise<'died'>; kill(): void } {
  let kill = (): void => undefined;
  const promise = new Promise<'died'>((resolve) => {
    kill = () => resolve('died');
  });
  return { promise, kill: () => kill() };
}

/** Client that answers every question, repeats requests, and may leave for good. */
export class RandomClient {
  token: string | undefined;
  expiresAt = 0;
  end: SagaTurn | undefined;
  /** `true` if the client names its call, and may repeat it at any time. */
  readonly isKeyed: boolean;
  #asked: readonly string[] = [];
  #last: { readonly token: string; readonly asked: readonly string[] } | undefined;
  #lost: { readonly token: string; readonly asked: readonly string[] } | undefined;
  readonly #world: HostileWorld;
  readonly #draw: () => number;

  constructor(world: HostileWorld, draw: () => number, isKeyed: boolean = false) {
    this.#world = world;
    this.isKeyed = isKeyed;
    this.#draw = draw;
  }

  /** Starts without a key, once: without its first response, such a client has no saga. */
  async start(): Promise<void> {
    const start = this.#world.attempt((host) => host.start('random', {}), false);
    this.#take(await start.catch(() => 'died' as const));
  }

  /** Starts by a key, or repeats the start: its response may have been lost, or come late. */
  async startAgain(isSafe: boolean = false): Promise<void> {
    const named = { idempotencyKey: 'event' };
    try {
      const turn = await this.#world.attempt((host) => host.start('random', {}, named), isSafe);
      // What was sent before the response belongs to an older token.
      if (turn !== 'died') this.#lost = undefined;
      this.#take(turn);
    } catch (error) {
      if (error instanceof SagaHostError && error.code === 'already_started')
        this.#world.problems.push('An honest client was told that its call is forgotten.');
    }
  }

  /** Sends a request with the newest token, or the last request again. */
  async act(isSafe: boolean = false): Promise<void> {
    if (this.token === undefined || this.end !== undefined) return;
    if (this.isKeyed && this.#draw() < 0.1) return await this.startAgain(isSafe);
    const fresh = { token: this.token, asked: this.#draw() < 0.7 ? this.#asked : [] };
    // A request without a response is repeated unchanged. Another may come twice.
    const again = this.#draw() < 0.2 ? this.#last : undefined;
    const request = this.#lost ?? again ?? fresh;
    if (request !== again) this.#lost = request;
    const answers = request.asked.map((stepId) => ({
      stepId,
      result: { action: 'accept' as const, content: { ok: true } },
    }));
    try {
      const turn = await this.#world.attempt((host) => host.resume(request.token, answers), isSafe);
      if (turn === 'died') return;
      this.#last = request;
      this.#lost = undefined;
      this.#take(turn);
    } catch (error) {
      const isExpired = request === this.#last || this.#world.clock.now >= this.expiresAt;
      if (error instanceof TokenRefused && !isExpired)
        this.#world.problems.push(`An honest client was refused: ${error.reason}.`);
    }
  }

  #take(turn: SagaTurn | 'died'): void {
    if (turn === 'died') return;
    if (turn.status !== 'suspended') {
      this.end = turn;
      return;
    }
    this.token = turn.token;
    this.expiresAt = turn.expiresAt;
    this.#asked = turn.steps.map(({ stepId }) => stepId);
  }
}
