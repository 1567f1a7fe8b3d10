import { createKeyRing, createSealer } from '@mcp-saga/seal';
import {
  continueAs,
  elicit,
  memoryStore,
  saga,
  step,
  type Program,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import type { HostParts } from '../../src/settings/host-parts.ts';
import { bindToRequest, changedTurn, sagaOf, turnFor } from '../../src/token/saga-of-turn.ts';
import { toSealedSaga } from '../../src/token/sealed-saga.ts';
import { start } from '../fixtures/clock.ts';
import { accept, hostOf, oldKey, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { recordingTelemetry } from '../fixtures/telemetry.ts';

const sealer = createSealer({
  ring: createKeyRing(oldKey),
  audience: 'deployer',
  clock: () => start,
});

type Keys = Pick<HostParts, 'keys'>;

/** Keys that open nothing: what they give was at hand. */
const closed = {
  keys: { sealer, responses: { open: () => expect.fail('A token of this process was opened.') } },
} as unknown as Keys;

/** Expects that the value behind a turn is what its token holds. */
async function expectSame(turn: SuspendedTurn): Promise<void> {
  const { grown: _, ...known } = await sagaOf(closed, turn);
  const opened = toSealedSaga(
    await sealer.open(turn.token, { purpose: 'token' }),
    turn.token.length,
  );
  expect(known).toEqual(opened);
}

const asks = (message: string) => ({ message, schema: Empty });

const second = saga({ name: 'second', version: '1' }, function* () {
  yield* elicit('second', asks('Second?'));
  return 'done';
});

const programs: readonly Program[] = [
  saga({ name: 'plain', version: '1', reuse: 'ok' }, function* () {
    yield* elicit('one', asks('One?'));
    yield* step('act', () => ({ at: new Date(0), many: 'x'.repeat(2_000) }));
    yield* elicit('two', asks('Two?'));
    return 'done';
  }),
  saga({ name: 'committing', version: '1', commitEach: true }, function* () {
    yield* elicit('one', asks('One?'));
    yield* step('first', () => 1);
    yield* step('second', () => 2);
    yield* elicit('two', asks('Two?'));
    return 'done';
  }),
  saga({ name: 'continuing', version: '1' }, function* () {
    yield* elicit('one', asks('One?'));
    return yield* continueAs(second, {});
  }),
  saga({ name: 'undoing', version: '1' }, function* () {
    yield* elicit('one', asks('One?'));
    yield* step('paid', () => 1, {
      compensate: () => Promise.reject(new Error('not now')),
      undo: { retry: { attempts: 3, delay: 3_600_000 } },
    });
    throw new Error('no');
  }),
];

describe('the saga behind a turn of this process', () => {
  it.each(programs.flatMap((program) => [false, true].map((isTraced) => ({ program, isTraced }))))(
    '[T2] is what the token holds: $program.name, traced: $isTraced',
    async ({ program, isTraced }) => {
      const { host } = hostOf([program, second], {
        store: memoryStore(),
        ...(isTraced ? { telemetry: recordingTelemetry() } : {}),
      });
      const one = suspended(await host.start(program.name, {}));
      await expectSame(one);
      // An answer to no question changes nothing.
      const same = suspended(await host.resume(one.token, []));
      await expectSame(same);
      const two = suspended(await host.resume(same.token, [accept('one', {})]));
      await expectSame(two);
    },
  );

  it('stays known if the turn, its method, or its request is changed', async () => {
    const [plain] = programs as [Program];
    const one = suspended(await hostOf(plain).host.start('plain', {}));
    const changed = await changedTurn(closed, one, { retryAfterMs: 5 });
    await expectSame(changed);
    const other = await turnFor(closed, 'tools/call', changed);
    expect(other.token).not.toBe(one.token);
    await expectSame(other);
    expect(await turnFor(closed, 'tools/call', other)).toBe(other);
    const bound = await bindToRequest(closed, other, 7);
    expect(bound).toMatchObject({ retryAfterMs: 5 });
    await expectSame(bound);
    expect(await bindToRequest(closed, bound, 7)).toBe(bound);
  });

  it('is opened once for a turn of another process', async () => {
    const [plain] = programs as [Program];
    const one = suspended(await hostOf(plain).host.start('plain', {}));
    const opened: string[] = [];
    const open = (...given: Parameters<typeof sealer.open>) => {
      opened.push(given[0]);
      return sealer.open(...given);
    };
    const keys = { keys: { sealer, responses: { ...sealer, open } } } as unknown as Keys;
    const copy = { ...one };
    const { grown: _, ...known } = await sagaOf(closed, one);
    expect(await sagaOf(keys, copy)).toEqual(known);
    expect(await sagaOf(keys, copy)).toEqual(known);
    expect(opened).toEqual([one.token]);
    const foreign = { ...one, sagaId: 'A'.repeat(22) };
    await expect(sagaOf(keys, foreign)).rejects.toMatchObject({ name: 'TokenRefused' });
  });
});
