import { encode } from '../../values/codec.ts';
import { formatUuid } from '../../values/to-uuid.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/effect-entries.ts';
import { toSagaInfo } from '../parts/saga-info.ts';
import { keyText } from '../parts/run-code.ts';

/** Reads and journals a varying value. */
export interface ReadSpec<K extends 'now' | 'random' | 'uuid' | 'info'> extends Spec {
  readonly kind: K;
}

/** Reads the idempotency key of a step, for its undo. */
export interface StepKeySpec extends Spec {
  readonly kind: 'stepKey';
  readonly path: string;
  readonly key: string | undefined;
}

export const now: Effect<ReadSpec<'now'>> = { entries: ['time'], read: (turn) => turn.now() };

export const info: Effect<ReadSpec<'info'>> = {
  entries: ['info'],
  read: (turn) => turn.info(),
  revive: toSagaInfo,
};

export const random: Effect<ReadSpec<'random'>> = {
  entries: ['read', 'failed', 'withdrawn'],
  run: async ({ path }, runtime) =>
    ended('read', encode(fractionOf(await runtime.effects.randomBytes(path)))),
};

export const uuid: Effect<ReadSpec<'uuid'>> = {
  entries: ['uuid', 'failed', 'withdrawn'],
  run: async ({ path }, runtime) =>
    ended('uuid', encode(formatUuid(await runtime.effects.randomBytes(path), 4))),
};

export const stepKey: Effect<StepKeySpec> = {
  entries: ['read', 'failed', 'withdrawn'],
  run: async ({ spec }, runtime) =>
    ended('read', encode(keyText(await runtime.effects.idempotencyKey(spec.path, spec.key, 'do')))),
};

/** A number in [0, 1) of the first 53 bits. */
function fractionOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ((view.getUint32(0) >>> 5) * 2 ** 26 + (view.getUint32(4) >>> 6)) / 2 ** 53;
}
