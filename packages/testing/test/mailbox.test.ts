import type { Mailbox } from '@mcp-saga/server';
import type { PutResult } from '@mcp-saga/server/stores';
import { mailboxConformance, type MailboxUnderTest } from '@mcp-saga/testing/guard';
import { describe, expect, it } from 'vitest';

interface Box {
  readonly answers: { readonly slot: string; readonly sealed: string }[];
  isClosed: boolean;
  expiresAt: number;
}

/** A mailbox in memory: the reference of the suite. */
function referenceMailbox(clock: () => number): Mailbox {
  const boxes = new Map<string, Box>();
  const boxOf = (name: string): Box => {
    const known = boxes.get(name);
    if (known !== undefined && clock() < known.expiresAt) return known;
    return { answers: [], isClosed: false, expiresAt: 0 };
  };
  const keep = (name: string, box: Box, expiresAt: number): void => {
    box.expiresAt = Math.max(box.expiresAt, expiresAt);
    boxes.set(name, box);
  };
  return {
    put: (name, slot, sealed, { expiresAt, maxAnswers }) => {
      const box = boxOf(name);
      if (box.answers.some((answer) => answer.slot === slot)) return 'taken';
      if (box.isClosed) return 'closed';
      if (box.answers.length >= maxAnswers) return 'full';
      box.answers.push({ slot, sealed });
      keep(name, box, expiresAt);
      return 'stored';
    },
    list: (name) => {
      const { answers, isClosed } = boxOf(name);
      return { answers: [...answers], isClosed };
    },
    remove: (name, answers) => {
      const box = boxOf(name);
      const isRemoved = ({ slot, sealed }: (typeof answers)[number]): boolean =>
        answers.some((one) => one.slot === slot && one.sealed === sealed);
      box.answers.splice(0, Infinity, ...box.answers.filter((answer) => !isRemoved(answer)));
    },
    close: (name, expiresAt) => {
      const box = boxOf(name);
      box.isClosed = true;
      keep(name, box, expiresAt);
    },
  };
}

const mailboxWith =
  (mistake: (sound: Mailbox, clock: () => number) => Partial<Mailbox>) =>
  async (): Promise<MailboxUnderTest> => {
    let time = Date.UTC(2030, 0, 1);
    const sound = referenceMailbox(() => time);
    const mailbox = { ...sound, ...mistake(sound, () => time) };
    return { mailbox, elsewhere: mailbox, now: () => time, pass: async (ms) => void (time += ms) };
  };

/** The titles of the cases that fail. */
async function failuresOf(make: () => Promise<MailboxUnderTest>): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const { title, run } of mailboxConformance(make)) {
    const error: unknown = await run().catch((thrown: unknown) => thrown);
    if (error === undefined) continue;
    expect(error).toMatchObject({ name: 'SagaTestError', code: 'violated' });
    failures.push(title);
  }
  return failures;
}

describe('the rules of a mailbox', () => {
  it('hold for the reference in memory', async () => {
    expect(await failuresOf(mailboxWith(() => ({})))).toEqual([]);
  });

  it.each<[string, (sound: Mailbox, clock: () => number) => Partial<Mailbox>, string]>([
    [
      'says that each answer is stored',
      (sound) => ({
        put: async (...given): Promise<PutResult> => {
          await sound.put(...given);
          return 'stored';
        },
      }),
      'keeps the first answer in a slot',
    ],
    [
      'has no limit',
      (sound) => ({
        put: (box, slot, sealed, bounds) =>
          sound.put(box, slot, sealed, { ...bounds, maxAnswers: 1e6 }),
      }),
      'stores exactly the limit of 200 concurrent answers',
    ],
    [
      'counts before it stores',
      (sound) => ({
        put: async (box, slot, sealed, { expiresAt, maxAnswers }) => {
          const { answers } = await sound.list(box);
          await Promise.resolve();
          if (answers.length >= maxAnswers) return 'full';
          return await sound.put(box, slot, sealed, { expiresAt, maxAnswers: 1e6 });
        },
      }),
      'stores exactly the limit of 200 concurrent answers',
    ],
    [
      'says `full` of a taken slot',
      (sound) => ({
        put: async (box, slot, sealed, bounds) => {
          const { answers } = await sound.list(box);
          return answers.length >= bounds.maxAnswers
            ? 'full'
            : await sound.put(box, slot, sealed, bounds);
        },
      }),
      'refuses answers beyond the limit of a box, and still says that a slot is taken',
    ],
    ['never closes', () => ({ close: () => undefined }), 'closes a box without answers'],
    [
      'never removes',
      () => ({ remove: () => undefined }),
      'removes answers, so that others find room, and keeps the order of the rest',
    ],
    [
      'removes by the slot alone',
      (sound) => ({
        remove: async (box, answers) => {
          const { answers: all } = await sound.list(box);
          const slots = answers.map(({ slot }) => slot);
          await sound.remove(
            box,
            all.filter(({ slot }) => slots.includes(slot)),
          );
        },
      }),
      'removes answers, so that others find room, and keeps the order of the rest',
    ],
    [
      'opens a closed box when it removes',
      (sound, clock) => {
        const opened = new Set<string>();
        return {
          remove: async (box, answers) => {
            if (answers.length > 0) opened.add(box);
            await sound.remove(box, answers);
          },
          list: async (box) => {
            const listed = await sound.list(box);
            return opened.has(box) && clock() > 0 ? { ...listed, isClosed: false } : listed;
          },
        };
      },
      'removes nothing from an unknown box, and opens no closed one',
    ],
    [
      'drops the answers of a closed box',
      (sound) => ({
        list: async (box) => {
          const { answers, isClosed } = await sound.list(box);
          return { answers: isClosed ? [] : answers, isClosed };
        },
      }),
      'refuses answers to a closed box, and keeps the stored ones',
    ],
    [
      'sorts by slot',
      (sound) => ({
        list: async (box) => {
          const { answers, isClosed } = await sound.list(box);
          return {
            answers: answers.toSorted((one, other) => (one.slot < other.slot ? -1 : 1)),
            isClosed,
          };
        },
      }),
      'lists the answers of a box in the order of their puts',
    ],
    [
      'trims names',
      (sound) => ({ put: (box, slot, ...given) => sound.put(box, slot.trim(), ...given) }),
      'distinguishes boxes and slots with any characters',
    ],
    [
      'lets the newest answer say when a box expires',
      (sound, clock) => {
        const expiries = new Map<string, number>();
        return {
          put: (box, slot, sealed, bounds) => {
            expiries.set(box, bounds.expiresAt);
            return sound.put(box, slot, sealed, bounds);
          },
          list: async (box) => {
            const { answers, isClosed } = await sound.list(box);
            const isOver = clock() >= (expiries.get(box) ?? Infinity);
            return isOver ? { answers: [], isClosed } : { answers, isClosed };
          },
        };
      },
      'removes a box at the latest expiry of its answers',
    ],
  ])('are violated by a mailbox that %s', async (_, mistake, title) => {
    expect(await failuresOf(mailboxWith(mistake))).toContain(title);
  });
});
