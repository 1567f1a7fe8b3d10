/**
 * Thirty sagas as authors write them, with the exact types they have. Compiled by types.test.ts
 * with both compilers.
 */
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  approval,
  call,
  checkpoint,
  compensator,
  continueAs,
  elicit,
  ignore,
  info,
  log,
  now,
  patched,
  pivot,
  poll,
  race,
  random,
  saga,
  sample,
  scope,
  sleep,
  step,
  StepError,
  uuid,
  waitFor,
  type Saga,
  type Settled,
  type StepContext,
  type Steps,
  type ToolResult,
  type UndoContext,
  type UndoFunction,
} from '../../src/index.ts';
import type { AskingCommand, Command, GuardedCommand } from '../../src/model/command.ts';
import { expectType, type Equal } from './equal.ts';

const of = (name: string) => ({ name, version: '1' }) as const;

/** A row as a database client types it: an interface, which has no index signature. */
interface Seat {
  readonly row: number;
  readonly letter: string;
  readonly note?: string;
  readonly next?: Seat;
}
interface Guest {
  readonly mail: string;
}
declare const seat: Seat;
declare const guests: readonly Guest[];
declare const boxOffice: {
  hold(seat: Seat, key: string): Promise<{ hold: string; until: Date }>;
  release(hold: string): Promise<void>;
  read(): Promise<unknown>;
};
const Choice = z.object({
  row: z.int().default(1),
  view: z.enum(['stage', 'aisle']),
  note: z.string().optional(),
});
type Chosen = { row: number; view: 'stage' | 'aisle'; note?: string | undefined };

// 1. A form with a default, a choice, and an optional field
export const choose = saga(of('choose'), function* () {
  const chosen = yield* elicit('seat', { message: 'Which seat?', schema: Choice });
  expectType<Equal<typeof chosen, Chosen>>();
  return chosen.view;
});
expectType<Equal<typeof choose, Saga<undefined, undefined, string>>>();

// 2. A refusal as a value
export const ask = saga(of('ask'), function* () {
  const asked = yield* elicit.outcome('seat', { message: 'Which seat?', schema: Choice });
  if (asked.action === 'accept') {
    expectType<Equal<typeof asked.content, Chosen>>();
    return 'Chosen.';
  }
  expectType<Equal<typeof asked.action, 'decline' | 'cancel'>>();
  return 'Nothing chosen.';
});

// 3. A date, made by a transform
const Day = z.object({ day: z.iso.date().transform((text) => new Date(text)) });
export const date = saga(of('date'), function* () {
  const { day } = yield* elicit('day', { message: 'When?', schema: Day });
  expectType<Equal<typeof day, Date>>();
  return day.toISOString();
});

// 4. Results that JSON lacks
export const codec = saga(of('codec'), function* () {
  const read = yield* step('read', async () => ({
    at: new Date(0),
    names: new Map([['a', 1n]]),
    gone: undefined,
  }));
  expectType<Equal<typeof read, { at: Date; names: Map<string, bigint>; gone: undefined }>>();
  return read.at.toISOString();
});

// 5. An interface as the input of a step, with optional and recursive fields
export const held = saga({ ...of('held') }, function* () {
  const { hold } = yield* step(
    'hold',
    ({ input, idempotencyKey }) => {
      expectType<Equal<typeof input, Seat>>();
      return boxOffice.hold(input, idempotencyKey);
    },
    {
      input: seat,
      compensate: ({ result, input }) => {
        expectType<Equal<typeof result, { hold: string; until: Date }>>();
        expectType<Equal<typeof input, Seat>>();
        return boxOffice.release(result.hold);
      },
    },
  );
  expectType<Equal<typeof hold, string>>();
  return hold;
});

// 6. An interface as the recipient of an approval, and as the people who may answer
export const approved = saga(of('approved'), function* () {
  const decision = yield* approval('manager', {
    message: 'Refund?',
    schema: z.object({ reason: z.string() }),
    to: guests,
    by: guests[0] ?? null,
    deliver: ({ to }) => {
      expectType<Equal<typeof to, Guest | undefined>>();
    },
    timeout: 1_000,
  });
  for (const answer of decision.answers)
    if (answer.approved) expectType<Equal<typeof answer.content, { reason: string }>>();
  return decision.approved ? 'Approved.' : decision.reason;
});

// 7. An interface in a log message
export const logged = saga(of('logged'), function* () {
  yield* log('info', seat);
  return 'done';
});

// 8. Whether a step needs a store is known from its options
declare const either: boolean;
declare const declared: UndoFunction<number, undefined>;
export const commands = {
  plain: step('a', () => 1),
  retried: step('a', () => 1, { retry: 3, timeout: 5, key: 'k', label: 'l', compress: true }),
  once: step('a', () => 1, { once: true }),
  notOnce: step('a', () => 1, { once: false }),
  reads: step('a', () => 1, { reads: true, once: false, compensate: undefined }),
  readsPerhaps: step('a', () => 1, { reads: either }),
  doesNotRead: step('a', () => 1, { reads: false, compensate: () => {} }),
  undone: step('a', () => 1, { compensate: () => {} }),
  undoneByThrowing: step('a', () => 1, {
    compensate: () => {
      throw new Error('x');
    },
  }),
  notUndone: step('a', () => 1, { compensate: undefined, unknown: 'compensate' }),
  unknown: step('a', () => 1, { compensate: () => {}, unknown: 'compensate' }),
  dropped: step('a', () => 1, { keep: false }),
  droppedAndUndone: step('a', () => 1, { keep: false, compensate: () => {} }),
  undoneByEither: step('a', () => 1, { compensate: either ? () => {} : async () => 'x' }),
  undoneByDeclared: step('a', () => 1, { compensate: declared }),
  undonePerhaps: step('a', () => 1, either ? { compensate: () => {} } : {}),
};
expectType<Equal<typeof commands.plain, Command<number>>>();
expectType<Equal<typeof commands.retried, Command<number>>>();
expectType<Equal<typeof commands.once, GuardedCommand<number>>>();
expectType<Equal<typeof commands.notOnce, Command<number>>>();
expectType<Equal<typeof commands.reads, Command<number>>>();
expectType<Equal<typeof commands.readsPerhaps, Command<number>>>();
expectType<Equal<typeof commands.doesNotRead, GuardedCommand<number>>>();
expectType<Equal<typeof commands.undone, GuardedCommand<number>>>();
expectType<Equal<typeof commands.undoneByThrowing, GuardedCommand<number>>>();
expectType<Equal<typeof commands.notUndone, Command<number>>>();
expectType<Equal<typeof commands.unknown, GuardedCommand<number>>>();
expectType<Equal<typeof commands.dropped, Command<void>>>();
expectType<Equal<typeof commands.droppedAndUndone, GuardedCommand<void>>>();
expectType<Equal<typeof commands.undoneByEither, GuardedCommand<number>>>();
expectType<Equal<typeof commands.undoneByDeclared, GuardedCommand<number>>>();
expectType<Equal<typeof commands.undonePerhaps, GuardedCommand<number>>>();

// 9. A step whose result is not kept may return anything
export const secret = saga(of('secret'), function* () {
  const nothing = yield* step('read', () => () => 'a function', { keep: false });
  expectType<Equal<typeof nothing, void>>();
  return 'done';
});

// 10. A named compensator, with arguments from the result, and without a result
const release = compensator('release', z.object({ hold: z.string() }), ({ args }) => {
  expectType<Equal<typeof args, { hold: string }>>();
});
export const named = saga({ ...of('named') }, function* () {
  const kept = yield* step('a', () => ({ hold: 'h' }), {
    compensate: release.for(({ result }) => ({ hold: result.hold })),
  });
  expectType<Equal<typeof kept, { hold: string }>>();
  yield* step('b', () => 1, {
    keep: false,
    input: 'h',
    compensate: release.for<undefined, string>(({ input }) => ({ hold: input })),
  });
  yield* step('c', () => ({ hold: 'h' }), {
    compensate: release.for<{ hold: string }, undefined, 'compensate'>(({ outcome, result }) =>
      outcome === 'done' ? result : { hold: 'unknown' },
    ),
    unknown: 'compensate',
  });
  yield* step('d', () => undefined, { compensate: release.for(() => ({ hold: 'h' })) });
  return 'done';
});

// 11. An undo of several steps
export const undoBySteps = saga({ ...of('undoBySteps'), reuse: 'ok' }, function* () {
  const undo = function* ({ result, stepKey }: UndoContext<number, undefined>): Steps<void> {
    yield* step('find', () => stepKey);
    yield* sleep(result);
  };
  yield* step('a', () => 1, { compensate: undo });
  yield* step('b', () => 1, {
    compensate: function* ({ result }) {
      yield* step('undo', () => result.toFixed());
    },
  });
  yield* step('c', () => 1, {
    unknown: 'compensate',
    compensate: function* ({ outcome, result, stepKey }) {
      yield* step('undo', () => (outcome === 'done' ? result.toFixed() : stepKey));
    },
  });
  yield* pivot('sent');
  return 'done';
});

// 12. Branches by name
export const together = saga(of('together'), function* () {
  const both = yield* all({ chosen: elicit('q', { message: 'm', schema: Choice }), paid: pay() });
  expectType<Equal<typeof both, { chosen: Chosen; paid: number }>>();
  return String(both.paid);
});
function* pay(): Steps<number> {
  return yield* step('pay', () => 1);
}

// 13. Branches in order, and a list of branches
export const listed = saga(of('listed'), function* () {
  const [key, paid] = yield* all([uuid(), pay()]);
  expectType<Equal<[typeof key, typeof paid], [string, number]>>();
  const sizes = yield* all(guests.map((guest) => step('mail', () => 1, { key: guest.mail })));
  expectType<Equal<typeof sizes, number[]>>();
  return key;
});

// 14. Branches that may be missing
export const optional = saga(of('optional'), function* () {
  const more: { late?: Command<void> } = {};
  const found = yield* all({ paid: pay(), ...more });
  expectType<Equal<typeof found.paid, number>>();
  return 'done';
});

// 15. A race, told apart by its winner
export const raced = saga(of('raced'), function* () {
  const first = yield* race({
    chosen: elicit('q', { message: 'm', schema: Choice }),
    late: sleep(1),
  });
  if (first.winner === 'chosen') expectType<Equal<typeof first.value, Chosen>>();
  else expectType<Equal<typeof first.value, void>>();
  return first.winner;
});

// 16. Branches that settle
export const settled = saga(of('settled'), function* () {
  const ends = yield* allSettled({ paid: pay(), key: uuid() });
  expectType<Equal<typeof ends, { paid: Settled<number>; key: Settled<string> }>>();
  return ends.paid.status;
});

// 17. Groups tell what their branches need, and ask
export const groups = {
  plain: all({ a: pay(), b: sleep(1) }),
  asking: all([elicit('q', { message: 'm', schema: Choice }), sleep(1)]),
  undone: scope('s', commands.undone),
  inner: race({ a: all([commands.once]) }),
};
expectType<Equal<typeof groups.plain, Command<{ a: number; b: void }>>>();
expectType<Equal<typeof groups.asking, AskingCommand<[Chosen, void]>>>();
expectType<Equal<typeof groups.undone, GuardedCommand<number>>>();
expectType<
  Equal<typeof groups.inner, GuardedCommand<{ readonly winner: 'a'; readonly value: [number] }>>
>();

// 18. A called saga returns what its body returns
const text = saga({ ...of('text'), input: z.object({ n: z.number() }) }, function* ({ n }) {
  yield* sleep(n);
  return n > 1 ? 'many' : 'one';
});
const page = saga(of('page'), function* () {
  return { content: [{ type: 'text', text: (yield* now()).toFixed() }] };
});
const mixed = saga(of('mixed'), function* () {
  if ((yield* random()) > 0.5) return 'text';
  return { content: [] };
});
const structured = saga({ ...of('structured'), output: z.object({ n: z.number() }) }, function* () {
  return { n: (yield* now()) > 1 ? 1 : 2 };
});
export const caller = saga(of('caller'), function* () {
  const said = yield* call(text, { n: 1 });
  expectType<Equal<typeof said, string>>();
  const shown = yield* call(page, undefined);
  expectType<Equal<typeof shown, ToolResult>>();
  const given = yield* call(mixed, {});
  expectType<Equal<typeof given, string | ToolResult>>();
  const made = yield* call(structured, undefined);
  expectType<Equal<typeof made, { n: number }>>();
  return said;
});

// 19. A saga that starts over names its type
const Round = z.object({ round: z.int().default(1) });
export const rounds: Saga<typeof Round, undefined> = saga(
  { ...of('rounds'), input: Round },
  function* ({ round }) {
    if (round > 3) return 'end';
    return yield* continueAs(rounds, { round: round + 1 });
  },
);

// 20. Arguments of two kinds
const Payment = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('card'), last4: z.string() }),
  z.object({ kind: z.literal('iban'), iban: z.string() }),
]);
export const paid = saga({ ...of('paid'), input: Payment }, function* (payment) {
  expectType<Equal<typeof payment, z.output<typeof Payment>>>();
  yield* sleep(1);
  return payment.kind === 'card' ? payment.last4 : payment.iban;
});

// 21. A body that ignores its empty input, and a helper that takes it
export const empty = saga(of('empty'), function* (input) {
  yield* step('a', () => Object.keys(input).length);
  return 'done';
});

// 22. An event of another system, by a check, and by its link
export const events = saga(of('events'), function* () {
  const common = { schema: z.object({ cents: z.int() }), register: () => {}, timeout: 1 };
  const checked = yield* waitFor('checked', { ...common, verify: 'bank' });
  const linked = yield* waitFor('linked', { ...common, link: 'accept' });
  expectType<Equal<typeof checked, { cents: number }>>();
  expectType<Equal<typeof linked, { cents: number }>>();
  return String(checked.cents);
});

// 23. Saga options that depend on each other
export const commits = saga({ ...of('commits'), commitEach: true }, function* () {
  yield* pay();
  return 'done';
});
export const commitsNot = saga({ ...of('commitsNot'), commitEach: false }, function* () {
  yield* pay();
  return 'done';
});
export const commitsPerhaps = (commitEach: boolean) =>
  saga({ ...of('commitsPerhaps'), commitEach }, function* () {
    yield* pay();
    return 'done';
  });

// 24. A poll whose answer may be missing
export const polled = saga(of('polled'), function* () {
  const build = yield* poll(
    'build',
    ({ attempt }) => (attempt > 1 ? { passed: attempt > 2 } : undefined),
    {
      every: 1,
      timeout: 9,
    },
  );
  expectType<Equal<typeof build, { passed: boolean }>>();
  return String(build.passed);
});

// 25. A value that may be missing, and an abort
export const aborts = saga(of('aborts'), function* () {
  const found = yield* step('find', () => (seat.note === '' ? undefined : seat.note));
  if (found === undefined) return yield* abort('No such seat.');
  expectType<Equal<typeof found, string>>();
  return found;
});

// 26. An error of a step
export const catches = saga(of('catches'), function* () {
  try {
    return String(yield* pay());
  } catch (error) {
    if (error instanceof StepError) return `${error.stepId}: ${error.code}`;
    throw error;
  }
});

// 27. Helpers with a type parameter, and helpers whose type is inferred
function* twice<T extends { readonly id: string }>(load: () => Promise<T>): Steps<[T, T]> {
  return [yield* step('first', load), yield* step('second', load)];
}
function* inferred(context: Pick<StepContext<undefined>, 'attempt'>) {
  const key = yield* uuid();
  return { key, attempt: context.attempt };
}
export const helped = saga(of('helped'), function* () {
  const [first, second] = yield* scope(
    'twice',
    twice(async () => ({ id: 'a', n: 1 })),
  );
  expectType<Equal<typeof first, { id: string; n: number }>>();
  expectType<Equal<typeof second, { id: string; n: number }>>();
  const one = yield* inferred({ attempt: 1 });
  expectType<Equal<typeof one, { key: string; attempt: number }>>();
  return one.key;
});

// 28. Results of any type, cast by the author
export const casts = saga(of('casts'), function* () {
  const row = yield* step('read', async () => (await boxOffice.read()) as Seat);
  expectType<Equal<typeof row, Seat>>();
  const unchecked = yield* step('unchecked', () => boxOffice.read());
  expectType<Equal<typeof unchecked, unknown>>();
  return row.letter;
});

// 29. A model, and facts
export const facts = saga(of('facts'), function* () {
  const { content } = yield* sample('title', { messages: [], maxTokens: 9 });
  const { sagaId } = yield* info();
  if (yield* patched('named')) yield* checkpoint(sagaId);
  return content.type === 'text' ? content.text : sagaId;
});

// 30. A command that is dropped on purpose
export const drops = saga({ ...of('drops'), reuse: 'ok' }, function* (): Steps<string> {
  const [used, unused] = [commands.plain, commands.undone];
  ignore(unused);
  ignore(elicit('q', { message: 'm', schema: Choice }));
  return String(yield* used);
});
