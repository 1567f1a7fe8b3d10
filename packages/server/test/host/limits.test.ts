import { describe, expect, test } from 'vitest';
import {
  checkpoint,
  elicit,
  memoryStore,
  info,
  patched,
  random,
  saga,
  scope,
  step,
  type HostLimits,
  type Json,
  type Steps,
} from '@mcp-saga/server';
import * as z from 'zod';
import { accept, completed, failed, hostOf, suspended, type TestHost } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { coreOf } from '../../src/saga-host.ts';

const limited = (limits: Partial<HostLimits>): { readonly limits: Partial<HostLimits> } => ({
  limits,
});

/** Text that does not compress to a few bytes. */
function varied(bytes: number): string {
  let seed = 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647);
  return Array.from({ length: bytes }, () => String.fromCharCode(97 + (next() % 26))).join('');
}

/** Asks, keeps a result of so many bytes, asks again. */
function growing(bytes: () => number): ReturnType<typeof saga> {
  return saga({ name: 'growing', version: '1' }, function* () {
    yield* elicit('first', { message: 'First?', schema: Empty });
    yield* step('small', () => 'small');
    yield* step('report', () => 'r'.repeat(bytes()));
    yield* elicit('second', { message: 'Second?', schema: Empty });
    return 'done';
  });
}

async function secondTurn({ host }: TestHost): ReturnType<TestHost['host']['resume']> {
  const { token } = suspended(await host.start('growing', {}));
  return host.resume(token, [accept('first', {})]);
}

describe('maxTokenBytes', () => {
  test('[T11] accepts a token with room for a small answer, and rejects one byte more, before the user is asked', async () => {
    const sized = suspended(await secondTurn(hostOf(growing(() => 5000)))).token.length;
    // A 64th of the limit, sealed.
    const reserved = (limit: number): number => Math.ceil((Math.floor(limit / 64) * 4) / 3);
    let least = sized;
    while (sized + reserved(least) > least) least += 1;
    const fits = hostOf(
      growing(() => 5000),
      limited({ maxTokenBytes: least }),
    );
    expect(suspended(await secondTurn(fits)).token).toHaveLength(sized);

    const tight = hostOf(
      growing(() => 5000),
      limited({ maxTokenBytes: least - 1 }),
    );
    const turn = failed(await secondTurn(tight));
    expect(turn.error).toMatchObject({ code: 'token_too_large', public: false });
    expect(String(turn.error)).toContain(`limit ${least - 1}`);
    expect(String(turn.error)).toMatch(/Largest: step 'report' \(5002\), step 'small' \(7\)/);
    expect(tight.told.turns.at(-1)).toMatchObject({
      status: 'failed',
      error: turn.error,
      tokenBytes: 0,
    });
  });

  test('[T11] names a step in a loop with the sum of its runs', async () => {
    const loops = saga({ name: 'loops', version: '1' }, function* () {
      yield* step('once', () => varied(3_000));
      for (const key of 'abcdefghij') yield* step('page', () => varied(2_000), { key });
      yield* scope('parts', part('x'));
      yield* scope('parts', part('y'));
      yield* elicit('first', { message: 'm', schema: Empty });
      return 'done';
    });
    function* part(input: string): Steps<void> {
      yield* step('part', () => varied(2_500), { input });
    }
    const { host } = hostOf(loops, limited({ maxTokenBytes: 20_000 }));
    const { message } = failed(await host.start('loops', {})).error as Error;
    const [, list = ''] = /Largest: (.*)\.$/.exec(message) ?? [];
    expect(list.split(', ').map((named) => named.replaceAll(/\d{3,}/g, 'n'))).toEqual([
      "step 'page(*)' (10 times",
      'n)',
      "step 'parts/part' (2 times",
      'n)',
      "step 'once' (n)",
    ]);
  });

  test('[T11] an oversized token leaves the previous token valid', async () => {
    let bytes = 100_000;
    const { host } = hostOf(growing(() => bytes));
    const first = suspended(await host.start('growing', {}));
    failed(await host.resume(first.token, [accept('first', {})]));
    bytes = 100;
    const second = suspended(await host.resume(first.token, [accept('first', {})]));
    expect(completed(await host.resume(second.token, [accept('second', {})])).result).toBe('done');
  });

  test('[T11] warns from a quarter of the limit, naming the largest entries', async () => {
    const sized = suspended(await secondTurn(hostOf(growing(() => 5000)))).token.length;
    const at = hostOf(
      growing(() => 5000),
      limited({ maxTokenBytes: sized * 4 }),
    );
    await secondTurn(at);
    expect(at.told.warnings).toEqual([]);
    const past = hostOf(
      growing(() => 5000),
      limited({ maxTokenBytes: sized * 4 - 1 }),
    );
    await secondTurn(past);
    expect(past.told.warnings).toHaveLength(1);
    expect(past.told.warnings[0]).toContain("step 'report' (5002)");
    expect(past.told.warnings[0]).not.toContain('rrr');
  });

  test('[T11] limits the inflated size of a token', async () => {
    const filled = saga(
      { name: 'filled', version: '1', input: z.object({ bytes: z.int() }) },
      function* ({ bytes }) {
        yield* step('fill', () => 'x'.repeat(bytes), { compress: true });
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return 'done';
      },
    );
    const { host } = hostOf(filled, limited({}));
    const full = suspended(await host.start('filled', { bytes: 1_000_000 }));
    expect(full.token.length).toBeLessThan(9000);
    const turn = failed(await host.start('filled', { bytes: 1_048_577 }));
    expect(turn.error).toMatchObject({ code: 'token_too_large' });
    expect(String(turn.error)).toContain("'fill' (");
  });
});

describe('the other limits', () => {
  const counting = saga({ name: 'counting', version: '1' }, function* () {
    for (let index = 0; index < 10; index += 1) yield* random();
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return 'done';
  });

  test.each([
    [299, false],
    [300, true],
  ])('a journal of %i entries suggests continueAs: %s', async (entries, expected) => {
    const long = saga({ name: 'long', version: '1' }, function* () {
      for (let index = 0; index < entries; index += 1) yield* random();
      return String((yield* info()).continueAsSuggested);
    });
    const { host } = hostOf(long, limited({}));
    expect(completed(await host.start('long', {})).result).toBe(String(expected));
  });

  test.each([
    [2_000, 333],
    [65_536, 10_922],
  ])(
    '[T11] with tokens of %i bytes, a journal has %i entries, and not one more',
    async (maxTokenBytes, most) => {
      const reads = (count: number) =>
        saga({ name: 'reads', version: '1' }, function* () {
          for (let index = 0; index < count; index += 1) yield* random();
          return 'done';
        });
      const limits = limited({ maxTokenBytes });
      expect((await hostOf(reads(most), limits).host.start('reads', {})).status).toBe('completed');
      expect(
        failed(await hostOf(reads(most + 1), limits).host.start('reads', {})).error,
      ).toMatchObject({ code: 'limit_exceeded', public: false });
    },
  );

  test('[T11] a turn has ten commands for each entry of a journal, so that an endless body ends', async () => {
    let count = 0;
    const endless = saga({ name: 'endless', version: '1' }, function* () {
      for (;;) {
        count += 1;
        yield* patched(`change${count % 2}`);
      }
    });
    const ended = await hostOf(endless, limited({ maxTokenBytes: 1_200 })).host.start(
      'endless',
      {},
    );
    expect(failed(ended).error).toMatchObject({ code: 'limit_exceeded' });
    expect(count).toBe(2_001);
  });

  test('[T11] a request has 2,000 answers, and is refused with 2,001 before the token is opened', async () => {
    const { host, told } = hostOf(counting, limited({}));
    const { token } = suspended(await host.start('counting', {}));
    const answers = ['go', ...Array.from({ length: 2_000 }, (_, at) => `a${at}`)].map((id) =>
      accept(id, {}),
    );
    expect((await host.resume(token, answers.slice(0, 2_000))).status).toBe('completed');
    await expect(host.resume('nonsense', answers)).rejects.toMatchObject({
      code: 'invalid_params',
      message: 'Invalid params: answers: more than 2000 step results',
    });
    expect(told.rejections).toEqual([]);
  });

  describe('an answer of a client', () => {
    const met: string[] = [];
    const spelled = z.object({
      target: z.string().refine((text) => {
        met.push(text);
        return true;
      }),
    });
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: spelled });
      return target;
    });
    const around = JSON.stringify({ action: 'accept', content: { target: '' } }).length;

    test.each([
      ['letters', 'x', 1],
      ['characters of three bytes', '€', 3],
      ['characters of four bytes', '😀', 4],
    ])(
      '[T11] [W4] is asked again before it is read if it has more than four times the bytes of a token, in %s',
      async (_, character, width) => {
        met.length = 0;
        const size = 4 * 8_000 - around;
        const text = (bytes: number): string =>
          character.repeat(bytes / width) + 'x'.repeat(bytes % width);
        const { host, told } = hostOf(asks, limited({ maxTokenBytes: 8_000 }));
        const { token } = suspended(await host.start('asks', {}));
        const send = (to: string, bytes: number) =>
          host.resume(to, [accept('target', { target: text(bytes) })]);
        const large = suspended(await send(token, size + 1));
        expect(large.steps).toMatchObject([
          { stepId: 'target', reason: `it has more than ${around + size} bytes` },
        ]);
        expect(told.ignored).toEqual([{ stepId: 'target', why: 'invalid' }]);
        expect(met).toEqual([]);
        // The token has no room for an answer of this size either, which is another reason.
        const full = suspended(await send(large.token, size));
        expect(full.steps[0]?.reason).not.toContain('it has more than');
        expect(completed(await send(full.token, 600)).result).toBe(text(600));
        expect(met).toEqual([text(size), text(600)]);
      },
    );

    test('[T11] has the same bounds if it is an error', async () => {
      const { host } = hostOf(asks, limited({ maxTokenBytes: 1_500 }));
      const { token } = suspended(await host.start('asks', {}));
      const error = { code: -1, message: 'x'.repeat(6_000) };
      expect(suspended(await host.resume(token, [{ stepId: 'target', error }])).steps).toHaveLength(
        1,
      );
      failed(await host.resume(token, [{ stepId: 'target', error: { ...error, message: 'no' } }]));
    });
  });

  describe('the arguments of a call', () => {
    const met: string[] = [];
    const input = z.object({
      text: z.string().refine((text) => {
        met.push(text);
        return true;
      }),
    });
    const reads = saga({ name: 'reads', version: '1', input }, function* ({ text }) {
      yield* checkpoint();
      return text;
    });
    const around = JSON.stringify({ text: '' }).length;

    test('[T11] have at most the bytes of a token, and more are refused before the schema runs', async () => {
      met.length = 0;
      const text = '€'.repeat(1_000);
      const maxTokenBytes = around + 3_000;
      const { host, told } = hostOf(reads, limited({ maxTokenBytes }));
      await expect(host.start('reads', { text: `${text}x` })).rejects.toMatchObject({
        code: 'invalid_params',
        message: `Invalid params: arguments: more than ${maxTokenBytes} bytes. Send references to large values.`,
      });
      expect(met).toEqual([]);
      await coreOf(host).start('reads', { text }, {}, { method: 'tools/call' });
      expect(met).toEqual([text]);
      expect(told.errors).toEqual([]);
    });
  });

  const nested = (levels: number): Json => (levels === 0 ? 1 : { in: nested(levels - 1) });

  test('[T11] accepts arguments 64 levels deep and refuses 65, naming the path', async () => {
    const { host } = hostOf(
      saga({ name: 'deep', version: '1', input: z.record(z.string(), z.unknown()) }, function* () {
        yield* elicit('go', { message: 'Go?', schema: Empty });
        return 'done';
      }),
    );
    const { token } = suspended(await host.start('deep', nested(64)));
    expect((await host.resume(token, [accept('go', {})])).status).toBe('completed');
    await expect(host.start('deep', nested(65))).rejects.toThrow(
      /^Invalid params: arguments\.in.*nested deeper than 64 levels$/,
    );
  });

  test.each([
    ['none', {}],
    ['a guard', { store: memoryStore() }],
  ])('[T11] accepts answers 64 levels deep and refuses 65, with %s', async (_, options) => {
    const { host } = hostOf(counting, options);
    const { token } = suspended(await host.start('counting', {}));
    const resume = (result: Json): Promise<unknown> =>
      host.resume(token, [{ stepId: 'go', result }]);
    await expect(resume({ action: 'accept', content: nested(63) })).resolves.toMatchObject({
      status: 'completed',
    });
    const deepest = { code: -1, message: '', data: nested(64) };
    const other = suspended(await host.start('counting', {})).token;
    // The codec puts it one level deeper, which is one too many: it is asked again.
    expect(
      suspended(await host.resume(other, [{ stepId: 'go', error: deepest }])).steps,
    ).toHaveLength(1);
    await expect(resume({ action: 'accept', content: nested(64) })).rejects.toThrow(
      /answers\[0\]\.result\.content\.in.*nested deeper than 64 levels$/,
    );
    const error = { code: -1, message: '', data: nested(65) };
    await expect(host.resume(token, [{ stepId: 'go', error }])).rejects.toThrow(
      /answers\[0\]\.error\.data/,
    );
  });

  test('[T11] does not recurse into a hundred thousand levels', async () => {
    const { host } = hostOf(counting);
    const { token } = suspended(await host.start('counting', {}));
    let deep: Json = [];
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    await expect(host.start('counting', { deep })).rejects.toMatchObject({
      code: 'invalid_params',
    });
    await expect(host.resume(token, [{ stepId: 'go', result: deep }])).rejects.toMatchObject({
      code: 'invalid_params',
    });
  });

  test.each([
    ['maxTokenBytes', 0],
    ['maxKeptBytes', Number.NaN],
    ['maxTokenBytes', 1.5],
    ['maxKeptBytes', -1],
    ['maxTokenBytes', Number.POSITIVE_INFINITY],
  ])('[T11] refuses %s of %s at the creation of a host', (name, limit) => {
    expect(() => hostOf(counting, limited({ [name]: limit }))).toThrow(
      expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
    );
    expect(() => hostOf(counting, limited({ [name]: limit }))).toThrow(name);
  });

  test('[T11] an undefined limit has its default', async () => {
    const { host } = hostOf(counting, {
      limits: { maxTokenBytes: undefined } as unknown as Partial<HostLimits>,
    });
    expect(coreOf(host).limits.maxTokenBytes).toBe(65_536);
  });
});
