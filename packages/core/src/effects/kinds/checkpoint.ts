import type { Effect, Spec } from '../parts/effect.ts';

/** Hands the client a fresh token with nothing to do. */
export interface CheckpointSpec extends Spec {
  readonly kind: 'checkpoint';
  /** What is shown with it. */
  readonly content: string | undefined;
}

/** A token without a question. The client passes it when it returns. */
export const checkpoint: Effect<CheckpointSpec> = {
  place: 'client',
  entries: ['passed'],
  report: ({ content }) => content,
};
