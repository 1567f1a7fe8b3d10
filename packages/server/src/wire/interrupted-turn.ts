import type { FailedTurn } from '../model/turn.ts';

type Steps = FailedTurn['uncompensated'];

/**
 * Separates the steps that were not undone from interrupted turns, which core lists among them as
 * `turn 2`: the first run of such a turn may have executed steps that its repetition never reached,
 * so that nobody knows their names.
 */
export function splitUncompensated<T extends Steps[number]>(
  uncompensated: readonly T[],
): { readonly steps: readonly T[]; readonly turns: readonly string[] } {
  const turnOf = ({ stepId }: T): string | undefined => /^turn (\d+)$/.exec(stepId)?.[1];
  return {
    steps: uncompensated.filter((each) => turnOf(each) === undefined),
    turns: uncompensated.flatMap((each) => turnOf(each) ?? []),
  };
}

/** Says what is known of an interrupted turn, which is no step that was left as it is. */
export function moreMayHaveRun(turn: string): string {
  return (
    `More steps may have run in turn ${turn}, which was interrupted. Nothing is known about them, and ` +
    'they are not undone.'
  );
}
