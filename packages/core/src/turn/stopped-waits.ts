import { historyOf } from '../journal/read-history.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';

// Steps that deliver the links of an approval, or register the URL of an event.
const deliveries = /^(.+)\/(?:deliver|register|escalate|remind)(?:\(.*\))?$/s;

/**
 * Returns a function that refuses answers to the approvals and events of a body that is stopped
 * without its `finally` blocks. After a limit, only once the undo is committed: a repeated turn
 * might not meet the limit, and wait for answers.
 * @param waits - paths of pending tasks
 */
export function boxCloser(
  state: ProgramState,
  waits: readonly string[],
  { effects }: Pick<Runtime, 'effects'>,
): <T>(outcome?: T) => Promise<T> {
  const boxes = historyOf(state).entries.flatMap(({ kind, path, value }) => {
    const scope = deliveries.exec(path)?.[1];
    const isOpen = waits.includes(`${scope}/answers`) || waits.includes(`${scope}/close`);
    return kind === 'step' && isOpen && typeof value === 'string' ? [value] : [];
  });
  return async (outcome) => {
    // While the store is down, links end with their time only.
    await Promise.allSettled(
      [...new Set(boxes)].map(async (box) => await effects.outside?.close(box, 'withdrawn')),
    );
    return outcome as NonNullable<typeof outcome>;
  };
}
