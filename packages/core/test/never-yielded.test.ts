/* oxlint-disable require-yield -- a body that drops its only command is what is tested */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  approval,
  call,
  checkpoint,
  continueAs,
  elicit,
  elicitUrl,
  ignore,
  info,
  listRoots,
  log,
  now,
  patched,
  pivot,
  poll,
  progress,
  race,
  random,
  saga,
  sample,
  scope,
  sleep,
  step,
  uuid,
  waitFor,
} from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import type { Command, Steps } from '../src/model/command.ts';
import {
  accepted,
  answered,
  completed,
  drive,
  failed,
  start,
  suspended,
  turn,
} from './support/drive.ts';
import { FakeOutside } from './support/outside.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });
const one = (): number => 1;
const Event = z.object({ word: z.string() });
const answering = ({ type }: { readonly type: string }) =>
  type === 'roots' ? answered({ roots: [{ uri: 'file:///a' }] }) : word;

const questions: Readonly<Record<string, () => Command<unknown>>> = {
  elicit: () => ask('sure'),
  'elicit.outcome': () => elicit.outcome('sure', { message: 'Sure?', schema: Event }),
  elicitUrl: () => elicitUrl('sure', { message: 'Sure?', url: 'https://a.example' }),
  sample: () => sample('sure', { messages: [], maxTokens: 1 }),
  approval: () => approval('sure', { message: 'Sure?', deliver: one, timeout: 1_000 }),
  waitFor: () => waitFor('sure', { schema: Event, register: one, link: 'accept', timeout: 1_000 }),
};

/** Deletes, in a way that a body may write it. `deleted` is called by whatever runs. */
const effects: Readonly<Record<string, (deleted: () => number) => Command<unknown>>> = {
  'a step': (deleted) => step('delete', deleted),
  'a step with retries': (deleted) => step('delete', deleted, { retry: 3 }),
  'a poll': (deleted) => poll('delete', deleted, { every: 1, timeout: 10 }),
  'a delivery of an approval': (deleted) =>
    approval('other', { message: 'Other?', deliver: deleted, timeout: 1_000 }),
  'a step in a scope': (deleted) => scope('s', step('delete', deleted)),
  'a step of a helper in a group': (deleted) =>
    all({
      a: (function* () {
        yield* now();
        return yield* step('delete', deleted);
      })(),
    }),
  'a step of a called saga': (deleted) =>
    call(
      saga({ name: 'child', version: '1' }, function* () {
        return String(yield* step('delete', deleted));
      }),
      undefined,
    ),
};

interface Told {
  readonly outcome: Outcome;
  readonly ran: number;
  readonly warnings: readonly string[];
}

/** Takes the first turn of a body that may delete. */
async function run(body: (deleted: () => number) => Steps<string>, options = {}): Promise<Told> {
  const world = new World();
  let ran = 0;
  const program = sagaOf(() => body(() => (ran += 1)), options);
  const settings = { replace: { outside: new FakeOutside() } };
  return { outcome: await start(program, {}, world, settings), ran, warnings: world.warnings };
}

function* failing(): Steps<void> {
  step('early', one);
  yield* sleep(1);
  throw new Error('no');
}

const refused = { code: 'never_yielded' };

describe('a question that was never yielded', () => {
  it.each(Object.keys(questions).flatMap((q) => Object.keys(effects).map((e) => [q, e] as const)))(
    'stops an effect of its branch before it runs: %s before %s',
    async (question, effect) => {
      const { outcome, ran } = await run(function* (deleted) {
        (questions[question] as () => unknown)();
        yield* effects[effect]?.(deleted) as Command<unknown>;
        return 'Deleted.';
      });
      expect(failed(outcome)).toMatchObject(refused);
      expect(ran).toBe(0);
    },
  );

  const places: Readonly<Record<string, () => Steps<unknown>>> = {
    'in a group that is dropped, too': function* () {
      race({ answer: ask('sure'), late: sleep(1_000) });
    },
    'in a scope that is dropped, too': function* () {
      scope('s', ask('sure'));
    },
    'in a helper': function* () {
      yield* (function* () {
        yield* now();
        ask('sure');
      })();
    },
    'in a helper that ended in a scope': function* () {
      yield* scope('confirm', askNobody());
    },
    'in a branch that ended': function* () {
      yield* all({ a: askNobody(), b: sleep(0) });
    },
    'in the branch that won a race': function* () {
      yield* race({ a: askNobody(), b: sleep(60_000) });
    },
    'in a called saga': function* () {
      yield* call(
        saga({ name: 'child', version: '1' }, function* () {
          yield* askNobody();
          return 'x';
        }),
        undefined,
      );
    },
    'in a turn that was replayed': function* () {
      yield* askNobody();
      yield* ask('other');
    },
    'beside a question that was yielded': function* () {
      const questionsOfTwo = [ask('first'), ask('sure')];
      yield* questionsOfTwo[0] as Command<unknown>;
    },
  };
  function* askNobody(): Steps<void> {
    yield* now();
    ask('sure');
  }

  it.each(Object.entries(places))('stops later effects: created %s', async (_, place) => {
    let ran = 0;
    const { outcome } = await drive({
      make: () =>
        sagaOf(function* () {
          yield* place();
          yield* step('delete', () => (ran += 1));
          return 'Deleted.';
        }),
      world: new World(),
      answer: answering,
    });
    expect(failed(outcome)).toMatchObject(refused);
    expect(ran).toBe(0);
  });

  it('stops effects if it is a default argument of the body', async () => {
    let ran = 0;
    const body = function* (_input: unknown, _question = ask('sure')): Steps<string> {
      yield* step('delete', () => (ran += 1));
      return 'Deleted.';
    };
    expect(failed(await start(sagaOf(body as () => Steps<string>)))).toMatchObject(refused);
    expect(ran).toBe(0);
  });

  it('stops effects if it is a default argument of a saga that is called beside another branch', async () => {
    let ran = 0;
    const body = function* (_input: unknown, _question = ask('sure')): Steps<string> {
      return String(yield* step('delete', () => (ran += 1)));
    };
    const child = saga({ name: 'child', version: '1' }, body as () => Steps<string>);
    const { outcome } = await run(function* () {
      yield* all({ called: call(child, undefined), beside: sleep(60_000) });
      return 'Deleted.';
    });
    expect(failed(outcome)).toMatchObject(refused);
    expect(ran).toBe(0);
  });

  it('is named by its error, with the effect, and with the code to write', async () => {
    const { outcome } = await run(function* (deleted) {
      questions['approval']?.();
      yield* step('delete', deleted);
      return 'Deleted.';
    });
    const { message } = failed(outcome) as Error;
    expect(message).toContain("'delete' did not run");
    expect(message).toContain("yield* approval('sure')");
    expect(message).toContain('() => approval(…)');
    expect(message).toContain('ignore()');
  });

  it('stops every effect of a body that catches the error, the same on replay', async () => {
    const world = new World();
    const ran: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        ask('sure');
        const caught: unknown[] = [];
        for (const id of ['a', 'b']) {
          try {
            yield* step(id, () => ran.push(id));
          } catch (error) {
            caught.push((error as { code: unknown }).code);
          }
          yield* ask(`after ${id}`.replace(' ', '-'));
        }
        throw new Error(caught.join());
      });
    const { outcome } = await drive({ make, world, answer: answering });
    expect(failed(outcome)).toMatchObject({ message: 'never_yielded,never_yielded' });
    expect(ran).toEqual([]);
  });

  it('does not stop a step that ran before the code created it', async () => {
    let ran = 0;
    const make = (isNew: boolean): Program =>
      sagaOf(function* () {
        const early = isNew ? ask('sure') : undefined;
        yield* step('a', () => (ran += 1));
        yield* ask('go');
        if (early !== undefined) yield* early;
        return 'done';
      });
    const { state } = suspended(await start(make(false)));
    const asked = suspended(await turn(make(true), state, { go: word }));
    expect(asked.steps.map(({ stepId }) => stepId)).toEqual(['sure']);
    expect(completed(await turn(make(true), asked.state, { sure: word }))).toBe('done');
    expect(ran).toBe(1);
  });

  it('does not stop a retry of a step, which ran before the code created it', async () => {
    let ran = 0;
    const make = (isNew: boolean): Program =>
      sagaOf(function* () {
        const early = isNew ? ask('sure') : undefined;
        const retry = { attempts: 2, delay: 60_000, jitter: false };
        const tries = (): number => {
          if ((ran += 1) === 1) throw new Error('down');
          return ran;
        };
        yield* step('a', tries, { retry });
        if (early !== undefined) yield* early;
        return 'done';
      });
    const world = new World();
    const settings = { budget: 10, maxHold: 0 };
    const { state, retryAfterMs = 0 } = suspended(await start(make(false), {}, world, settings));
    expect(ran).toBe(1);
    world.time += retryAfterMs;
    const asked = suspended(await turn(make(true), state, {}, world));
    expect(asked.steps.map(({ stepId }) => stepId)).toEqual(['sure']);
    expect(ran).toBe(2);
  });

  it('does not stop a poll that asked before the code created it', async () => {
    let asked = 0;
    const make = (isNew: boolean): Program =>
      sagaOf(function* () {
        const early = isNew ? ask('sure') : undefined;
        const ready = (): true | undefined => ((asked += 1) > 1 ? true : undefined);
        yield* poll('a', ready, { every: 60_000, timeout: 600_000 });
        if (early !== undefined) yield* early;
        return 'done';
      });
    const world = new World();
    const settings = { budget: 10, maxHold: 0 };
    const { state, retryAfterMs = 0 } = suspended(await start(make(false), {}, world, settings));
    expect(asked).toBe(1);
    world.time += retryAfterMs;
    const next = suspended(await turn(make(true), state, {}, world));
    expect(next.steps.map(({ stepId }) => stepId)).toEqual(['sure']);
  });

  it('stops the repetition of a turn whose first run was interrupted', async () => {
    let ran = 0;
    const program = sagaOf(function* () {
      ask('sure');
      yield* step('delete', () => (ran += 1));
      return 'Deleted.';
    });
    const outcome = await start(program, {}, new World(), { replace: { isInterrupted: true } });
    expect(failed(outcome)).toMatchObject(refused);
    expect(ran).toBe(0);
  });

  const fine: Readonly<Record<string, (ran: () => number) => Steps<unknown>>> = {
    'is created early, and yielded before the effect': function* (ran) {
      const early = ask('sure');
      yield* sleep(0);
      yield* now();
      yield* early;
      yield* step('a', ran);
    },
    'is a branch of the group with the effect': function* (ran) {
      yield* all({ a: step('a', ran), sure: ask('sure'), b: all({ c: ask('c') }) });
    },
    'is an argument of a helper that yields it at once': function* (ran) {
      function* confirm(question: Command<unknown>): Steps<unknown> {
        yield* now();
        return yield* question;
      }
      yield* all({ a: step('a', ran), sure: confirm(ask('sure')) });
    },
    'belongs to a sibling of the effect': function* (ran) {
      function* later(): Steps<unknown> {
        const early = ask('sure');
        yield* sleep(10);
        return yield* early;
      }
      yield* all({ a: step('a', ran), b: later() });
    },
    'belongs to a sibling that ended without it': function* (ran) {
      function* build(): Steps<Command<unknown>> {
        yield* now();
        return ask('sure');
      }
      function* act(): Steps<unknown> {
        yield* sleep(10);
        return yield* step('a', ran);
      }
      const { question } = yield* all({ question: build(), act: act() });
      yield* question;
    },
    'belongs to a branch that lost a race': function* (ran) {
      function* slow(): Steps<unknown> {
        const early = ask('sure');
        yield* sleep(60_000);
        return yield* early;
      }
      yield* race({ fast: sleep(0), slow: slow() });
      yield* step('a', ran);
    },
    'belongs to a branch that failed': function* (ran) {
      function* fails(): Steps<unknown> {
        const early = ask('sure');
        yield* scope('s', failing());
        return yield* early;
      }
      yield* allSettled({ a: fails() });
      try {
        yield* scope('s', fails());
      } catch {
        yield* step('a', ran);
      }
    },
    'waits while its branch is ended, and cleans up': function* (ran) {
      function* slow(): Steps<unknown> {
        const early = ask('sure');
        try {
          yield* sleep(60_000);
          return yield* early;
        } finally {
          yield* step('a', ran);
        }
      }
      yield* race({ fast: sleep(0), slow: slow() });
    },
    'is created by a function where it is yielded': function* (ran) {
      const wrapped = (): Command<unknown> => ask('sure');
      yield* step('a', ran);
      yield* wrapped();
    },
    'is ignored': function* (ran) {
      ignore(ask('sure'));
      ignore(race({ a: ask('b'), c: scope('s', ask('d')), e: all([ask('f')]) }));
      yield* step('a', ran);
    },
    'asks for roots, which decide nothing': function* (ran) {
      const early = listRoots('roots');
      yield* step('a', ran);
      yield* early;
    },
  };

  it.each(Object.entries(fine))('does not stop an effect if it %s', async (_, body) => {
    let ran = 0;
    const world = new World();
    const { outcome } = await drive({
      make: () =>
        sagaOf(function* () {
          yield* body(() => (ran += 1));
          return 'done';
        }),
      world,
      answer: answering,
    });
    expect(completed(outcome)).toBe('done');
    expect(ran).toBe(1);
    expect(world.warnings).toEqual([]);
  });

  it('does not stop an undo', async () => {
    const undone: string[] = [];
    const program = sagaOf(
      function* () {
        yield* step('a', one, { compensate: () => void undone.push('a') });
        yield* step('b', one, {
          compensate: function* () {
            ask('sure');
            yield* step('undo', () => undone.push('b'));
          },
        });
        ask('sure');
        throw new Error('no');
      },
      { reuse: 'ok' },
    );
    expect(failed(await start(program))).toMatchObject({ message: 'no' });
    expect(undone).toEqual(['b', 'a']);
  });

  it('stops no saga if it was created outside of a body', async () => {
    const shared = ask('sure');
    const { outcome, ran } = await run(function* (deleted) {
      yield* step('delete', deleted);
      return shared === undefined ? '' : 'done';
    });
    expect(completed(outcome)).toBe('done');
    expect(ran).toBe(1);
  });
});

describe('a result of a body that never yielded a command', () => {
  const child = saga({ name: 'child', version: '1' }, function* () {
    yield* sleep(0);
    return 'x';
  });
  function* helper(): Steps<void> {
    yield* step('x', one);
  }

  const lost: Readonly<Record<string, () => unknown>> = {
    ...questions,
    listRoots: () => listRoots('roots'),
    step: () => step('a', one),
    poll: () => poll('a', one, { every: 1, timeout: 10 }),
    checkpoint: () => checkpoint(),
    call: () => call(child, undefined),
    scope: () => scope('s', helper()),
    all: () => all([helper()]),
    allSettled: () => allSettled({ a: helper() }),
    race: () => race({ a: helper() }),
    pivot: () => pivot('sent'),
    abort: () => abort('No.'),
    continueAs: () => continueAs(child, undefined),
    patched: () => patched('audit'),
  };

  it.each(Object.entries(lost))('is not sent: %s', async (name, drop) => {
    const { outcome } = await run(function* () {
      drop();
      return 'done';
    });
    const error = failed(outcome);
    expect(error).toMatchObject({ code: 'never_yielded' });
    expect((error as Error).message).toContain(`yield* ${name}(`);
  });

  it.each(Object.entries(lost))('is sent if the command is ignored: %s', async (_, drop) => {
    const { outcome, warnings } = await run(function* () {
      ignore(drop() as Command<unknown>);
      return 'done';
    });
    expect(completed(outcome)).toBe('done');
    expect(warnings).toEqual([]);
  });

  const harmless: Readonly<Record<string, () => unknown>> = {
    now,
    random,
    uuid,
    info,
    sleep: () => sleep(1_000),
    progress: () => progress(1),
    log: () => log('info', 'x'),
  };

  it.each(Object.entries(harmless))(
    'is sent with a warning if the command only reads, waits, or reports: %s',
    async (name, drop) => {
      const { outcome, warnings } = await run(function* () {
        drop();
        return 'done';
      });
      expect(completed(outcome)).toBe('done');
      expect(warnings).toEqual([expect.stringContaining(`yield* ${name}(`)]);
    },
  );

  it('is refused with the names of all commands, each once, and without their branches', async () => {
    const { outcome } = await run(function* () {
      step('a', one);
      step('a', one);
      all({ b: step('b', one), c: scope('d', ask('e')) });
      elicit('f', { message: 'F?', schema: Event });
      return 'done';
    });
    const [said = ''] = (failed(outcome) as Error).message.split(' If one is dropped');
    expect(said).toBe(
      "Saga 'test' created step('a') and all(…) and elicit('f'), but never yielded them, so they did not run. " +
        "Write: yield* step('a'), yield* all(…), yield* elicit('f').",
    );
  });

  it('is refused after the steps before were undone, also on replay of the end', async () => {
    const world = new World();
    const undone: string[] = [];
    const make = (): Program =>
      sagaOf(
        function* () {
          yield* step('a', one, { compensate: () => void undone.push('a') });
          yield* ask('go');
          step('b', one);
          return 'done';
        },
        { reuse: 'ok' },
      );
    const { state } = suspended(await start(make(), {}, world));
    const outcome = await turn(make(), state, { go: word }, world);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'never_yielded' },
      compensated: [{ stepId: 'a' }],
    });
    expect(undone).toEqual(['a']);
  });

  it('is sent past a pivot, and the command is reported', async () => {
    const { outcome, warnings } = await run(
      function* () {
        yield* step('a', one);
        yield* pivot('sent');
        step('b', one);
        return 'done';
      },
      { reuse: 'ok' },
    );
    expect(completed(outcome)).toBe('done');
    expect(warnings).toEqual([expect.stringContaining("created step('b'), but never yielded it")]);
  });

  it('is sent past a pivot of an earlier turn', async () => {
    const make = (): Program =>
      sagaOf(
        function* () {
          yield* pivot('sent');
          yield* ask('go');
          step('b', one);
          return 'done';
        },
        { reuse: 'ok' },
      );
    const world = new World();
    const { state } = suspended(await start(make(), {}, world));
    expect(completed(await turn(make(), state, { go: word }, world))).toBe('done');
    expect(world.warnings).toHaveLength(1);
  });

  it.each<[string, () => Steps<string>]>([
    [
      'throws',
      function* () {
        step('a', one);
        throw new Error('no');
      },
    ],
    [
      'aborts',
      function* () {
        step('a', one);
        return yield* abort('no');
      },
    ],
  ])('is not what a body that %s is blamed for', async (_, body) => {
    const { outcome, warnings } = await run(body);
    expect(failed(outcome)).toMatchObject({ message: 'no' });
    expect(warnings).toEqual([]);
  });

  it('is not needed to continue as another saga', async () => {
    const { outcome, warnings } = await run(function* () {
      step('a', one);
      return yield* continueAs(child, undefined);
    });
    expect(outcome.status).toBe('continued');
    expect(warnings).toEqual([]);
  });

  it.each<[string, () => Steps<unknown>]>([
    [
      'lost a race',
      function* () {
        function* slow(): Steps<unknown> {
          const early = step('a', one);
          yield* sleep(60_000);
          return yield* early;
        }
        yield* race({ fast: sleep(0), slow: slow() });
      },
    ],
    [
      'failed',
      function* () {
        yield* allSettled({ a: failing() });
        try {
          yield* all({ a: built(), b: failing() });
        } catch {
          yield* now();
        }
      },
    ],
  ])('is sent if a branch with early steps %s', async (_, body) => {
    const { outcome, warnings } = await run(function* () {
      yield* body();
      return 'done';
    });
    expect(completed(outcome)).toBe('done');
    expect(warnings).toEqual([]);
  });
  function* built(): Steps<void> {
    step('early', one);
    yield* now();
  }
  it('is sent if each command is yielded later, plainly, in branches, scopes, or called sagas', async () => {
    const late = saga({ name: 'late', version: '1' }, function* () {
      const early = step('a', one);
      yield* ask('child');
      return String(yield* early);
    });
    const world = new World();
    const { outcome } = await drive({
      make: () =>
        sagaOf(function* () {
          const early = step('late', one);
          const branches = [step('b', one), scope('s', step('c', one)), all({ d: step('d', one) })];
          yield* ask('go');
          yield step('plain', one);
          yield* all(branches);
          yield* allSettled({ x: listRoots('roots'), y: uuid(), z: info() });
          yield* call(late, undefined);
          yield* early;
          return 'done';
        }),
      world,
      answer: answering,
    });
    expect(completed(outcome)).toBe('done');
    expect(world.warnings).toEqual([]);
  });

  it('is checked once for each run of a saga', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      for (let index = 0; index < 1000; index += 1) yield* step('a', one, { key: String(index) });
      progress(1);
      progress(2);
      yield* checkpoint();
      return 'done';
    });
    for (let each = 0; each < 2; each += 1) {
      const { state } = suspended(await start(program, {}, world));
      expect(completed(await turn(program, state, {}, world))).toBe('done');
    }
    expect(world.warnings).toEqual(
      [1, 2].map(() => expect.stringContaining('progress(…)') as string),
    );
  });

  it('is sent by a host that wants no warnings', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      progress(1);
      yield* checkpoint();
      return 'done';
    });
    const settings = { replace: { warn: undefined } };
    const { state } = suspended(await start(program, {}, world, settings));
    expect(completed(await turn(program, state, {}, world, settings))).toBe('done');
    expect(world.warnings).toEqual([]);
  });
});

describe('ignore', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a string', 'step'],
    ['an object', {}],
    ['a function', sleep],
    ['a called helper', (function* () {})()],
  ])('refuses %s, which is no command', (_, value) => {
    expect(() => ignore(value as never)).toThrow('needs a command');
  });

  it('lets a command run that is yielded after all', async () => {
    const { outcome, ran } = await run(function* (deleted) {
      const early = step('a', deleted);
      ignore(early);
      return String(yield* early);
    });
    expect(completed(outcome)).toBe('1');
    expect(ran).toBe(1);
  });
});
