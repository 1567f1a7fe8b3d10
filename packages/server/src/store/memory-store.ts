import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import { skewMs } from '@mcp-saga/seal';
import { ExpiryQueue, type Expiring } from './expiry-queue.ts';
import type {
  Appended,
  AppendOptions,
  Entry,
  EntryKey,
  EntryValue,
  ListedValue,
  SagaStore,
  StoredList,
  WriteOptions,
  Written,
} from '../model/saga-store.ts';

/** Options of {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * `refuse`: tokens of an earlier process are refused, because the store does not know which ones
   * were used. `accept`: each older token can be used again once. @default 'refuse'
   */
  readonly olderTokens?: 'refuse' | 'accept';
  /**
   * Returns the time, in milliseconds since the epoch. Default: the clock of the host. Hosts that
   * share the store must then have the same time.
   */
  readonly clock?: () => number;
}

const optionNames: NamesOf<MemoryStoreOptions> = { olderTokens: true, clock: true };

/**
 * Creates a store in the memory of one process: for tests, stdio, and servers that are one process.
 * A restart of the process forgets everything. Each call removes up to 1,000 expired entries.
 * @returns the store, with the number of its entries and lists
 * @throws TypeError for an unknown option, or one of the wrong type
 * @example
 * ```ts
 * const host = createSagaHost({ sagas: [], name: 'shop', store: memoryStore() });
 * ```
 */
export function memoryStore(
  options: MemoryStoreOptions = {},
): SagaStore & { readonly size: number } {
  if (typeof options !== 'object' || options === null)
    throw optionError('memoryStore: expected an object of olderTokens, clock.');
  rejectUnknownOption('memoryStore', options, optionNames);
  const { clock, olderTokens = 'refuse' } = options;
  if (clock !== undefined && typeof clock !== 'function')
    throw optionError('memoryStore.clock: expected a function, such as Date.now.');
  if (olderTokens !== 'refuse' && olderTokens !== 'accept')
    throw optionError("memoryStore.olderTokens: expected 'refuse' or 'accept'.");
  const memory = new Memory(clock);
  let startedAtMs: number | undefined;
  const methods: Omit<SagaStore, 'remembersSince'> = {
    write: (...given) => memory.write(...given),
    remove: (...given) => memory.remove(...given),
    read: (key) => memory.read(key),
    append: (...given) => memory.append(...given),
    list: (group) => memory.list(group),
    discard: (...given) => memory.discard(...given),
    close: (...given) => memory.close(...given),
  };
  for (const method of Object.values(methods)) memories.set(method, memory);
  return {
    get size() {
      return memory.size;
    },
    ...methods,
    ...(olderTokens === 'refuse'
      ? { remembersSince: (nowMs: number) => (startedAtMs ??= nowMs) }
      : {}),
  };
}

/** Memories of this process, by the methods of their stores. */
const memories = new WeakMap<object, Memory>();

/** Names of the methods that every store has. */
export const storeMethods: readonly (keyof SagaStore)[] = [
  'write',
  'remove',
  'read',
  'append',
  'list',
  'discard',
  'close',
];

/** The memories behind the methods of a store. Undefined for a method of another kind. */
function memoriesOf(store: SagaStore): readonly (Memory | undefined)[] {
  return storeMethods.map((name) => memories.get(Reflect.get(store, name) as object));
}

/**
 * `true` for a store in the memory of this process, whose records need no encryption. `false` if a
 * method was wrapped, because it may pass the records on.
 */
export function isInMemory(store: SagaStore): boolean {
  return memoriesOf(store).every((memory) => memory !== undefined);
}

/**
 * Lets a store in memory that has no clock go by the clock of a host.
 * @throws TypeError if it goes by a clock with another time
 */
export function followClock(store: SagaStore, clock: () => number): void {
  for (const memory of memoriesOf(store)) memory?.follow(clock);
}

/** Stored list of a group. */
interface List extends Expiring {
  readonly values: Map<string, string>;
  isClosed: boolean;
  chargedTo: string | undefined;
}

/** Stored entry, with its place in the queue of what expires next. */
interface Stored extends Expiring {
  value: EntryValue;
  version: number;
  writtenAtMs: number;
  expiresAtMs: number;
  bodyExpiresAtMs: number;
  /** Principal who pays for the body. */
  chargedTo: string | undefined;
}

const expiresAtOnce = 'The entry would expire at once: a clock is ahead. Synchronize the clocks.';

/** Maximum number of expired entries that a call removes, to bound the time of the call. */
const maxExpiredPerCall = 1_000;

class Memory implements Omit<SagaStore, 'remembersSince'> {
  readonly #clock: (() => number) | undefined;
  readonly #entries = new Map<string, Stored>();
  readonly #expiring = new ExpiryQueue<Stored>();
  readonly #lists = new Map<string, List>();
  readonly #expiringLists = new ExpiryQueue<List>();
  /** Bytes of the bodies and values that each principal pays for. */
  readonly #charged = new Map<string, number>();
  #versions = 0;
  /** Clock of the host, for a store without its own. */
  #hostClock: (() => number) | undefined;
  /** Latest time that a host passed, for a store whose methods are all wrapped. */
  #passedMs: number | undefined;
  /** Latest time at which an entry was removed. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  constructor(clock: (() => number) | undefined) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#entries.size + this.#lists.size;
  }

  follow(clock: () => number): void {
    if (this.#clock !== undefined) return;
    const known = this.#hostClock;
    if (known !== undefined && Math.abs(known() - clock()) > skewMs)
      throw optionError(
        'Two hosts with different clocks share a memoryStore. Give it the clock: memoryStore({ clock }).',
      );
    this.#hostClock = clock;
  }

  read(key: EntryKey): Entry | undefined {
    return this.#entryAt(textOf(key), this.#now(undefined));
  }

  remove(key: EntryKey, expected: number): boolean {
    const nowMs = this.#now(undefined);
    this.#expire(nowMs);
    const text = textOf(key);
    const stored = this.#entries.get(text);
    if (stored === undefined || this.#entryAt(text, nowMs)?.version !== expected) return false;
    this.#remove(stored);
    return true;
  }

  write(
    key: EntryKey,
    value: EntryValue,
    expected: number,
    {
      expiresAtMs,
      bodyExpiresAtMs = expiresAtMs,
      mayHaveExpiredAtMs = expiresAtMs,
      charge,
      outdated,
      nowMs: hostTime,
    }: WriteOptions,
  ): Written {
    const nowMs = this.#now(hostTime);
    this.#expire(nowMs);
    const text = textOf(key);
    const entry = this.#entryAt(text, nowMs);
    if ((entry?.version ?? 0) !== expected) return { status: 'other', entry, nowMs };
    if (expiresAtMs <= nowMs) throw new Error(expiresAtOnce);
    const { to, limit = Number.POSITIVE_INFINITY } = charge ?? {};
    if (expected === 0) {
      this.#assertNotForgotten(mayHaveExpiredAtMs, nowMs);
      if (to !== undefined && (this.#charged.get(to) ?? 0) >= limit)
        return { status: 'full', nowMs };
    }
    const stored = this.#entries.get(text);
    if (stored !== undefined) this.#remove(stored);
    if (outdated !== undefined && expected !== 0)
      this.#forgetBody(this.#entries.get(textOf({ group: key.group, name: outdated })));
    this.#versions += 1;
    const written: Stored = {
      key: text,
      value,
      version: this.#versions,
      writtenAtMs: nowMs,
      expiresAtMs,
      bodyExpiresAtMs,
      chargedTo: to,
      dueAt: Math.min(expiresAtMs, bodyExpiresAtMs),
      index: 0,
    };
    this.#entries.set(text, written);
    this.#expiring.add(written);
    this.#chargeEntry(written, 1);
    return { status: 'written', version: written.version, nowMs };
  }

  append(
    { group, name }: EntryKey,
    value: string,
    { maxValues, expiresAtMs, chargeTo }: AppendOptions,
  ): Appended {
    const nowMs = this.#now(undefined);
    this.#expire(nowMs);
    const stored = this.#listAt(group, nowMs);
    if (stored?.values.has(name) === true) return 'taken';
    if (stored?.isClosed === true) return 'closed';
    if ((stored?.values.size ?? 0) >= maxValues) return 'full';
    if (expiresAtMs <= nowMs) throw new Error(expiresAtOnce);
    const list = this.#openList(group, expiresAtMs, nowMs);
    list.chargedTo ??= chargeTo;
    list.values.set(name, value);
    this.#charge(list.chargedTo, value.length);
    return 'added';
  }

  list(group: string): StoredList {
    const list = this.#listAt(group, this.#now(undefined));
    const values = Array.from(list?.values ?? [], ([name, value]) => ({ name, value }));
    return { values, isClosed: list?.isClosed ?? false };
  }

  discard(group: string, values: readonly ListedValue[]): void {
    const list = this.#listAt(group, this.#now(undefined));
    if (list === undefined) return;
    for (const { name, value } of values) {
      if (list.values.get(name) !== value) continue;
      list.values.delete(name);
      this.#charge(list.chargedTo, -value.length);
    }
  }

  close(group: string, expiresAtMs: number): void {
    const nowMs = this.#now(undefined);
    this.#expire(nowMs);
    this.#openList(group, expiresAtMs, nowMs).isClosed = true;
  }

  #now(hostTime: number | undefined): number {
    this.#passedMs = hostTime ?? this.#passedMs;
    return this.#clock?.() ?? hostTime ?? this.#hostClock?.() ?? this.#passedMs ?? Date.now();
  }

  /** Entry at a key, unless it has expired and waits to be removed. */
  #entryAt(key: string, nowMs: number): Entry | undefined {
    const stored = this.#entries.get(key);
    if (stored === undefined || stored.expiresAtMs <= nowMs) return undefined;
    const { value, version, writtenAtMs, bodyExpiresAtMs } = stored;
    const body = bodyExpiresAtMs > nowMs ? value.body : undefined;
    return { head: value.head, body, version, writtenAtMs };
  }

  /** List of a group, unless it has expired and waits to be removed. */
  #listAt(group: string, nowMs: number): List | undefined {
    const list = this.#lists.get(group);
    return list !== undefined && list.dueAt > nowMs ? list : undefined;
  }

  /** Returns the list of a group, which lives until the latest time of all calls. */
  #openList(group: string, expiresAtMs: number, nowMs: number): List {
    const known = this.#listAt(group, nowMs);
    const stored = this.#lists.get(group);
    if (stored !== undefined) this.#expiringLists.remove(stored);
    if (stored !== undefined && known === undefined) this.#forgetList(stored);
    const list: List = known ?? {
      key: group,
      values: new Map(),
      isClosed: false,
      chargedTo: undefined,
      dueAt: expiresAtMs,
      index: 0,
    };
    list.dueAt = Math.max(list.dueAt, expiresAtMs);
    this.#lists.set(group, list);
    this.#expiringLists.add(list);
    return list;
  }

  #expire(nowMs: number): void {
    for (let count = 0; count < maxExpiredPerCall; count += 1) {
      const list = this.#expiringLists.takeDue(nowMs);
      if (list === undefined) break;
      this.#forgetList(list);
    }
    for (let count = 0; count < maxExpiredPerCall; count += 1) {
      const stored = this.#expiring.takeDue(nowMs);
      if (stored === undefined) return;
      if (stored.expiresAtMs <= nowMs) {
        this.#forgottenUntil = Math.max(this.#forgottenUntil, nowMs);
        this.#forget(stored);
      } else {
        this.#expiring.add(stored);
        this.#forgetBody(stored);
      }
    }
  }

  #forgetBody(stored: Stored | undefined): void {
    if (stored === undefined) return;
    this.#expiring.remove(stored);
    this.#chargeEntry(stored, -1);
    stored.value = { head: stored.value.head };
    stored.dueAt = stored.expiresAtMs;
    this.#expiring.add(stored);
  }

  #remove(stored: Stored): void {
    this.#expiring.remove(stored);
    this.#forget(stored);
  }

  #forget(stored: Stored): void {
    this.#chargeEntry(stored, -1);
    this.#entries.delete(stored.key);
  }

  #forgetList({ key, values, chargedTo }: List): void {
    for (const value of values.values()) this.#charge(chargedTo, -value.length);
    this.#lists.delete(key);
  }

  /** Adds the bytes of a body to those of its principal, or subtracts them. */
  #chargeEntry({ chargedTo, value: { body = '' } }: Stored, sign: 1 | -1): void {
    this.#charge(chargedTo, sign * body.length);
  }

  #charge(principal: string | undefined, bytes: number): void {
    if (principal === undefined || bytes === 0) return;
    const charged = (this.#charged.get(principal) ?? 0) + bytes;
    if (charged > 0) this.#charged.set(principal, charged);
    else this.#charged.delete(principal);
  }

  /**
   * Throws for an entry that may have been removed at a later time: what it held would be accepted
   * again.
   */
  #assertNotForgotten(expiresAtMs: number, nowMs: number): void {
    if (nowMs >= this.#forgottenUntil || expiresAtMs > this.#forgottenUntil) return;
    throw new Error(
      'The store may have forgotten this entry, because an earlier call had a later time: a clock was ahead. Synchronize the clocks of the hosts.',
    );
  }
}

function textOf({ group, name }: EntryKey): string {
  return `${group}\n${name}`;
}
