import type { Effect, Spec } from '../parts/effect.ts';

/** Hands the client a fresh token with nothing to do. */
export interface CheckpointSpec extends Spec {
  readonly kind: 'checkpoint';
  /** Text that the client shows with the checkpoint. */
  readonly content: string | undefined;
}

/** A token without a question, passed when the client returns. */
export const checkpoint: Effect<CheckpointSpec> = {
  place: 'client',
  entries: ['passed'],
  report: ({ content }) => content,
};
