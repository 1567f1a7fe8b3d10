import { ExpiringMap, type MemoryStoreOptions } from '../settings/expiring-map.ts';
import type { Mailbox } from '../model/mailbox-types.ts';

interface Box {
  readonly answers: Map<string, string>;
  isClosed: boolean;
  expiresAt: number;
}

/**
 * Creates a mailbox in the memory of one process: for tests, and single-process servers. Removes
 * expired boxes at most once a second. A restart of the process drops all questions and answers, and the
 * links that were sent are invalid.
 * @throws TypeError for an unknown option, or a `clock` that is not a function
 * @example
 * ```ts
 * const host = createSagaHost({
 *   sagas: [],
 *   audience: 'shop',
 *   outside: { url: 'https://shop.example', mailbox: memoryMailbox() },
 * });
 * ```
 */
export function memoryMailbox(
  options: MemoryStoreOptions = {},
): Mailbox & { readonly size: number } {
  const boxes = new ExpiringMap<Box>('memoryMailbox', options);
  const opened = (id: string, expiresAt: number): Box => {
    const box = boxes.get(id) ?? { answers: new Map(), isClosed: false, expiresAt };
    box.expiresAt = Math.max(box.expiresAt, expiresAt);
    boxes.set(id, box);
    return box;
  };
  return {
    get size() {
      return boxes.size;
    },
    put: (id, slot, sealed, { expiresAt, maxAnswers }) => {
      const known = boxes.get(id);
      if (known?.answers.has(slot) === true) return 'taken';
      if (known?.isClosed === true) return 'closed';
      if ((known?.answers.size ?? 0) >= maxAnswers) return 'full';
      opened(id, expiresAt).answers.set(slot, sealed);
      return 'stored';
    },
    list: (id) => {
      const box = boxes.get(id);
      const answers = Array.from(box?.answers ?? [], ([slot, sealed]) => ({ slot, sealed }));
      return { answers, isClosed: box?.isClosed ?? false };
    },
    remove: (id, answers) => {
      const kept = boxes.get(id)?.answers;
      for (const { slot, sealed } of answers) if (kept?.get(slot) === sealed) kept.delete(slot);
    },
    close: (id, expiresAt) => {
      opened(id, expiresAt).isClosed = true;
    },
  };
}
