import type { TurnEvent } from './turns-recording.ts';

/** Whether it is a delay that passed while the turn was taken. */
export function isPassed({ kind, outcome }: Pick<TurnEvent, 'kind' | 'outcome'>): boolean {
  return kind === 'wait' && outcome === 'passed';
}

/** Whether it is what a turn left behind: something asked or waited for. */
export function isLeft({ outcome }: Pick<TurnEvent, 'outcome'>): boolean {
  return outcome === 'asked' || outcome === 'waits';
}
