import type { Answerer } from '../../model/answerer.ts';
import type { SagaBody } from '../../model/command.ts';
import { encode } from '../../values/codec.ts';
import { validate, type Schema } from '../../values/standard-schema.ts';
import type { Effect, Spec } from '../parts/effect.ts';
import { ended } from '../parts/effect-entries.ts';

/** Runs another saga as a part of this one. */
export interface CallSpec extends Spec {
  readonly kind: 'call';
  readonly input: Schema | undefined;
  readonly args: unknown;
  /** Who may answer questions of the called saga. Undefined: as the caller says. */
  readonly answeredBy: readonly Answerer[] | undefined;
  readonly body: SagaBody<never, unknown>;
}

/** The arguments of another saga. Its body runs as a branch. */
export const call: Effect<CallSpec> = {
  entries: ['called', 'failed', 'withdrawn'],
  request: ({ args }) => [args],
  run: async ({ spec: { id, input, args } }) => {
    if (input === undefined) return ended('called', encode({}));
    const parsed = await validate(input, args);
    if (parsed.ok) return ended('called', encode(parsed.value));
    const message = `Invalid arguments for '${id}': ${parsed.issues}`;
    return ended('failed', encode({ name: 'InvalidInput', message, code: 'invalid_input' }));
  },
};
