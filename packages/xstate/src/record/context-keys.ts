import { isPlainObject } from '@mcp-saga/core/program';
import type { AnyStateMachine } from 'xstate';

const known = /* @__PURE__ */ new WeakMap<AnyStateMachine, readonly string[]>();

/**
 * Returns the keys that the code of a machine gives to its initial context. A release that adds one
 * reads it from contexts that were stored before, which lack it.
 *
 * A context that is made from an input is made here from a stand-in, which has every property: keys
 * that come from the input itself belong to the call and not to the code. Such a context may have
 * keys by a condition, so a stored context notes which of these keys it never had.
 */
export function contextKeysOf(machine: AnyStateMachine): readonly string[] {
  let keys = known.get(machine);
  if (keys === undefined) {
    keys = keysOf(machine.config.context);
    known.set(machine, keys);
  }
  return keys;
}

/** Returns the keys of the initial context of a machine that a stored context lacks. */
export function missingKeys(machine: AnyStateMachine, context: unknown): readonly string[] {
  const stored = Object(context) as object;
  return contextKeysOf(machine).filter((key) => !Object.hasOwn(stored, key));
}

function keysOf(context: unknown): readonly string[] {
  let made: unknown = context;
  if (typeof context === 'function') {
    // With a stand-in, a loop may never end.
    if (/\b(?:for|while|do)\b/.test(Function.prototype.toString.call(context))) return [];
    try {
      const anything = standIn({ left: mostReads });
      made = (context as (given: object) => unknown)({
        input: anything,
        spawn: anything,
        self: anything,
      });
    } catch {
      // Only code that reads its input as this machine does can make the context.
      return [];
    }
  }
  return isPlainObject(made) ? Object.keys(made).toSorted() : [];
}

/** Reads of a stand-in before it throws: a loop over it would never end. */
const mostReads = 1_000;

/** A value that can be read, called, and spread like any other. It is empty text and no number. */
function standIn(reads: { left: number }): object {
  const count = (): void => {
    reads.left -= 1;
    if (reads.left < 0) throw new Error('The stand-in was read too often.');
  };
  const value: object = new Proxy(() => undefined, {
    get: (_, key) => {
      count();
      if (key === Symbol.toPrimitive) return () => '';
      if (key === Symbol.iterator) return [][Symbol.iterator];
      return value;
    },
    has: () => true,
    apply: () => {
      count();
      return value;
    },
    construct: () => value,
    ownKeys: () => [],
    getOwnPropertyDescriptor: () => undefined,
  });
  return value;
}
