import * as fc from 'fast-check';
import { createKeyRing, createSealer, type Sealer } from '@mcp-saga/seal';
import {
  memoryStore,
  type SagaStore,
  AnswerConflict,
  all,
  elicit,
  info,
  now,
  poll,
  random,
  ReplayMismatch,
  saga,
  SagaError,
  SagaHostError,
  sample,
  sleep,
  step,
  TokenRefused,
  uuid,
  type SagaInspection,
  type SagaTurn,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { start, testClock } from '../fixtures/clock.ts';
import { accept, hostOf, oldKey, say, suspended, type TestHost } from '../fixtures/host.ts';
import { Target } from '../fixtures/sagas.ts';
import { OutsideCase, user, withoutTickets } from '../outside/case.ts';

/** Uses every kind of entry, and reads no part of a recorded value itself. */
const varied = saga({ name: 'varied', version: '1', reuse: 'ok' }, function* () {
  yield* step('build', () => ({ id: 1 }), { input: { secret: 'k' }, compensate: () => undefined });
  try {
    yield* step('fails', () => Promise.reject(new Error('no')));
  } catch {
    // The entry of a failed step is what the test needs.
  }
  yield* now();
  yield* random();
  yield* uuid();
  yield* info();
  yield* elicit('first', { message: 'Where?', schema: Target });
  yield* all({
    text: sample('text', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello' } }],
      maxTokens: 10,
    }),
    target: elicit('target', { message: 'Where?', schema: Target }),
    ready: poll('ready', ({ attempt }) => (attempt > 1 ? true : undefined), {
      every: 3_600_000,
      timeout: 86_400_000,
    }),
    again: step(
      'again',
      ({ attempt }) => {
        if (attempt < 2) throw new Error('not yet');
        return attempt;
      },
      { retry: { attempts: 3, delay: 3_600_000, jitter: false } },
    ),
    wait: sleep(3_600_000),
  });
  return 'done';
});

const sealer: Sealer = createSealer({
  ring: createKeyRing(oldKey),
  audience: 'deployer',
  clock: () => start,
});
const anonymous = { caller: 'anonymous' } as const;

interface Opened {
  readonly test: TestHost;
  readonly token: string;
}

const answers = [
  accept('first', { target: 'x' }),
  accept('target', { target: 'y' }),
  say('text', 'hi'),
];

/** A host, and a good token before the first or the second question. */
async function opened(turns: number): Promise<Opened> {
  const clock = testClock();
  const opening = hostOf(varied, { clock, store: memoryStore({ clock }) });
  const { host, told } = opening;
  let turn = suspended(await host.start('varied', {}, anonymous));
  if (turns > 1) turn = suspended(await host.resume(turn.token, answers.slice(0, 1), anonymous));
  told.errors.length = 0;
  return { test: opening, token: turn.token };
}

const values = fc.constantFrom<unknown>(
  null,
  true,
  0,
  -1,
  1e300,
  0.5,
  '',
  '?',
  's',
  'zz',
  '(',
  [],
  [1],
  {},
  { $: ['?', 1] },
  { name: 1 },
);

/** Changes a text at a place: a value in its JSON, or one of its characters. */
interface Change {
  readonly stream: number;
  readonly at: number;
  readonly kind: 'replace' | 'remove' | 'repeat' | 'cut' | 'character';
  readonly value: unknown;
  readonly depth: number;
}

const changes: fc.Arbitrary<Change> = fc.record({
  stream: fc.nat(3),
  at: fc.nat(1_000),
  kind: fc.constantFrom('replace', 'remove', 'repeat', 'cut', 'character'),
  value: values,
  depth: fc.nat(5),
});

function changedText(text: string, change: Change, isHead: boolean): string {
  const { kind, at, value, depth } = change;
  if (kind === 'cut') return text.slice(0, at % Math.max(text.length, 1));
  if (kind === 'character') {
    const place = at % Math.max(text.length, 1);
    return text.slice(0, place) + String(value) + text.slice(place + 1);
  }
  const root: unknown = JSON.parse(isHead ? text : `[${text}]`);
  let container = root as Record<string, unknown>;
  for (let level = 0; level < depth; level += 1) {
    const inner = Object.values(container).filter((one) => typeof one === 'object' && one !== null);
    if (inner.length === 0) break;
    container = inner[at % inner.length] as Record<string, unknown>;
  }
  const names = Object.keys(container);
  const name = names[at % Math.max(names.length, 1)];
  if (name !== undefined) {
    if (kind === 'replace') container[name] = value;
    else if (Array.isArray(container))
      container.splice(
        Number(name),
        kind === 'remove' ? 1 : 0,
        ...(kind === 'repeat' ? [container[name]] : []),
      );
    else delete container[name];
  }
  const written = JSON.stringify(root);
  return isHead ? written : written.slice(1, -1);
}

/** A token behind a good key, with another plaintext. */
async function resealed(token: string, change: Change): Promise<string> {
  const { claims, sid, streams } = await sealer.open(token, { purpose: 'token' });
  const changed = streams.map((bytes, index): string | Uint8Array => {
    if (index !== change.stream) return bytes;
    // Before the head: a byte, 32 bytes of the secret, rare members, and a line feed.
    const from = index === 0 ? bytes.indexOf(10, 33) + 1 : 0;
    const text = new TextDecoder().decode(bytes.subarray(from));
    const tail = new TextEncoder().encode(changedText(text, change, index === 0));
    return Uint8Array.of(...bytes.subarray(0, from), ...tail);
  });
  return await sealer.seal(
    'token',
    sid,
    claims,
    changed.map((bytes) => ({ bytes, compress: false })),
  );
}

/**
 * A state that other code could have written does not fit this code, or these answers. An error of
 * the engine itself, also as a cause, means that it has used what it could not read.
 */
function isOrderly(error: unknown): boolean {
  const { cause } = error as Error;
  if ([TypeError, RangeError, SyntaxError].some((type) => cause instanceof type)) return false;
  return [TokenRefused, ReplayMismatch, AnswerConflict, SagaError].some(
    (type) => error instanceof type,
  );
}

function errorOf(turn: SagaTurn | SagaInspection): unknown {
  return 'status' in turn && turn.status === 'failed' ? turn.error : undefined;
}

test('[T11] a token of a valid key with a changed plaintext is refused, or continues as some saga', async () => {
  const good = [await opened(1), await opened(2)];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...good), changes, async ({ test: of, token }, change) => {
      const forged = await resealed(token, change);
      const clock = testClock(of.clock.now);
      // A changed time may leave a short wait, which the turn sleeps through.
      const skip = async (ms: number): Promise<void> => void (clock.now += ms);
      const { host, told } = hostOf(varied, { clock, testing: { sleep: skip } });
      for (const use of [
        () => host.inspect(forged),
        () => host.cancel(forged, anonymous),
        () => host.resume(forged, answers, anonymous),
      ]) {
        const error = await use().then(
          (turn) => (turn === undefined ? undefined : errorOf(turn)),
          (thrown: unknown) => thrown,
        );
        if (error !== undefined && !isOrderly(error)) throw error;
      }
      const isReported = (error: unknown): boolean =>
        error instanceof SagaHostError && error.code === 'replay_mismatch';
      expect(told.errors.filter((error) => !isReported(error))).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** A ticket behind a good key, with another plaintext. */
async function resealedTicket(ticket: string, change: Change): Promise<string> {
  const purpose = 'ticket';
  const { claims, sid, streams } = await sealer.open(ticket, { purpose });
  const bytes = changedText(new TextDecoder().decode(streams[0]), change, true);
  return await sealer.seal(purpose, sid, claims, [{ bytes, compress: false }]);
}

test('[T11] a link of a valid key with a changed plaintext is refused, or shows some question', async () => {
  const Form = z.object({
    note: z.string().min(2).optional(),
    count: z.number().max(9).default(3),
    size: z.enum(['S', 'M']),
    colors: z.array(z.enum(['red', 'blue'])),
    sure: z.boolean(),
  });
  const honest = memoryStore({ clock: () => 0 });
  let kept = '';
  let stored: string | undefined;
  const store: SagaStore = {
    ...honest,
    write: (key, value, ...given) => {
      if (key.name === 'ticket') kept = value.body ?? '';
      return honest.write(key, value, ...given);
    },
    read: async (key) => {
      const entry = await honest.read(key);
      return entry && key.name === 'ticket' ? { ...entry, body: stored ?? entry.body } : entry;
    },
  };
  const inStore = new OutsideCase({ schema: Form as never }, { store });
  await inStore.start();
  const inLink = new OutsideCase({ schema: Form as never }, { store: withoutTickets(honest) });
  await inLink.start();
  const [origin, good = ''] = inLink.url().split('/saga/answer/');
  await fc.assert(
    fc.asyncProperty(changes, fc.boolean(), async (change, isLong) => {
      const of = isLong ? inLink : inStore;
      const ticket = await resealedTicket(isLong ? good : kept, change);
      stored = ticket;
      const url = isLong ? `${origin}/saga/answer/${ticket}` : of.url();
      expect((await of.get(user('eve'), url)).status).toBeLessThan(500);
      const posted = await of.post(user('eve'), { decision: 'approve', f0: 'text' }, { url });
      expect(posted.status).toBeLessThan(500);
      expect(of.test.told.errors.splice(0)).toEqual([]);
    }),
    { numRuns: 400 },
  );
});
