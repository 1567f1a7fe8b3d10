import type { QueueMessage } from '@mcp-saga/server/stores';
import { Entries, type DurableObjectStateLike } from './object-storage.ts';
import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type * as storedEntries from './stored-entries.ts';
import type * as storedLists from './stored-lists.ts';
import { readEntry, removeEntry, writeEntry } from './stored-entries.ts';
import { appendValue, closeList, discardValues, listValues } from './stored-lists.ts';
import { countBytes } from './stored-bytes.ts';
import { WakeMessage } from './wake-message.ts';

/** Options of {@link createSagaObject}. */
export interface SagaObjectOptions<Env = unknown> {
  /**
   * Delivers a message of {@link alarmQueue} to the host: `server.deliver(message, env)` of
   * `serveSagas`, or `host.deliver(message)`. If the promise rejects, the object delivers the
   * message again. Without the option, the objects store no messages.
   */
  readonly deliver?: (message: QueueMessage, env: Env) => Promise<unknown>;
  /**
   * Receives each error of `deliver`, which may contain values of the saga. Default: the console
   * gets the code of the error.
   */
  readonly onError?: (error: unknown, env: Env) => void;
}

/**
 * Durable Object with a part of the store: the entries and the list of a group, or the byte count
 * of a principal.
 */
export interface SagaObject {
  fetch(request: Request): Promise<Response>;
  alarm(): Promise<void>;
}

type StoreMethods = typeof storedEntries &
  typeof storedLists & { countBytes: typeof countBytes } & Pick<
    WakeMessage,
    'send' | 'remove' | 'wake'
  >;

type StoreMethod = (entries: Entries, ...args: never[]) => unknown;

const optionNames: NamesOf<SagaObjectOptions<never>> = { deliver: true, onError: true };

/** Methods of an object, without their first argument. */
export type ObjectMethods = {
  readonly [Name in keyof StoreMethods]: StoreMethods[Name] extends (
    entries: Entries,
    ...args: infer Args
  ) => infer Result
    ? (...args: Args) => Result
    : never;
};

/** Response of an object. */
export interface ObjectReply {
  readonly result?: unknown;
  readonly error?: string;
}

/**
 * Creates the class of the Durable Objects of {@link durableObjectStore} and {@link alarmQueue}.
 * Export the class from the Worker, and list the name of the class in `new_sqlite_classes` of a
 * migration. An object removes expired entries.
 *
 * The alarm of an object delivers the message of a saga. A rejected delivery is repeated after 2
 * seconds at first and after 5 minutes at last, without a limit.
 * @throws TypeError for an unknown option, or one of the wrong type
 * @example
 * ```ts
 * declare const server: { deliver(message: object, env: unknown): Promise<unknown> }; // serveSagas(…)
 *
 * export const Sagas = createSagaObject({ deliver: (message, env) => server.deliver(message, env) });
 * ```
 */
export function createSagaObject<Env = unknown>(
  options: SagaObjectOptions<Env> = {},
): new (state: DurableObjectStateLike, env: Env) => SagaObject {
  rejectUnknownOption('createSagaObject', options, optionNames);
  const { deliver, onError = reportRejected } = options;
  if (typeof (deliver ?? onError) !== 'function' || typeof onError !== 'function')
    throw optionError('createSagaObject: `deliver` and `onError` must be functions.');

  return class implements SagaObject {
    readonly #storage: DurableObjectStateLike['storage'];
    readonly #env: Env;
    readonly #waiting = new WakeMessage();
    readonly #methods: { readonly [name: string]: StoreMethod };

    constructor({ storage }: DurableObjectStateLike, env: Env) {
      this.#storage = storage;
      this.#env = env;
      const waiting = this.#waiting;
      this.#methods = {
        readEntry,
        removeEntry,
        writeEntry,
        appendValue,
        closeList,
        discardValues,
        listValues,
        countBytes,
        send: (entries, ...args: Parameters<ObjectMethods['send']>) => {
          if (deliver === undefined)
            throw new Error('Set the option `deliver` of createSagaObject.');
          waiting.send(entries, ...args);
        },
        remove: (entries) => waiting.remove(entries),
        wake: (entries) => waiting.wake(entries),
      } satisfies { readonly [Name in keyof StoreMethods]: StoreMethod };
    }

    async fetch(request: Request): Promise<Response> {
      const { method, args } = (await request.json()) as {
        readonly method: string;
        readonly args: never[];
      };
      const alarmAt = (await this.#storage.getAlarm()) ?? Number.POSITIVE_INFINITY;
      const entries = new Entries(this.#storage);
      let reply: ObjectReply;
      try {
        const run = this.#methods[method];
        if (run === undefined)
          throw new Error(`The Durable Object has no method '${method}': its code is older.`);
        reply = { result: run(entries, ...args) };
      } catch (error) {
        reply = { error: error instanceof Error ? error.message : String(error) };
      }
      if (entries.alarmAt < alarmAt) await this.#storage.setAlarm(entries.alarmAt);
      return Response.json(reply);
    }

    async alarm(): Promise<void> {
      await this.#deliver();
      const entries = new Entries(this.#storage);
      entries.sweep();
      this.#waiting.arm(entries);
      if (entries.alarmAt < Number.POSITIVE_INFINITY) await this.#storage.setAlarm(entries.alarmAt);
      else await Promise.all([this.#storage.deleteAlarm(), this.#storage.deleteAll()]);
    }

    async #deliver(): Promise<void> {
      const before = new Entries(this.#storage);
      const waiting = this.#waiting.begin(before);
      if (waiting === undefined || deliver === undefined) return;
      await this.#storage.setAlarm(before.alarmAt);
      let isAccepted = false;
      try {
        await deliver(waiting.message, this.#env);
        isAccepted = true;
      } catch (error) {
        // A report that fails does not fail the alarm.
        void (async () => onError(error, this.#env))().catch(() => reportRejected(error));
      }
      this.#waiting.end(new Entries(this.#storage), waiting, isAccepted);
    }
  };
}

/** Reports the code of an error. The message of the error may contain values of the saga. */
function reportRejected(error: unknown): void {
  const { console } = globalThis;
  const { code } = Object(error) as { readonly code?: unknown };
  const reason = typeof code === 'string' && /^\w{1,64}$/.test(code) ? code : 'unknown error';
  console.error(
    `mcp-saga: the host rejected a message of alarmQueue: ${reason}. The message is delivered again.`,
  );
}
