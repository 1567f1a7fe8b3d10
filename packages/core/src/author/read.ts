import type { Provenance } from '../model/client-step.ts';
import { command } from '../effects/make-command.ts';
import type { Command } from '../model/command.ts';
import type { RecordedReceipt } from '../model/outside.ts';
import type { Json } from '../values/json.ts';

/** Facts about a saga, as {@link info} returns them. */
export interface SagaInfo {
  /** ID of the saga: the same in all turns and forks. */
  readonly sagaId: string;
  /** Number of the turn that read these facts, from 1. */
  readonly turn: number;
  /** Size of the token that the turn was resumed from, in bytes; 0 in the first turn. */
  readonly tokenBytes: number;
  /**
   * `true` if the saga is long: its token has reached a quarter of `limits.maxTokenBytes`, or its
   * journal 300 entries, or half of what it may have. Each turn replays the whole journal. Continue
   * as a new saga with `continueAs`.
   */
  readonly continueAsSuggested: boolean;
  /** Capabilities that the client declared; undefined if unknown. */
  readonly capabilities: Json | undefined;
  /**
   * Source of the answer in this scope or at a full path: `client`, `model` (tool arguments),
   * `server` (fallback or host's model), `verified-url`. Undefined if not answered here yet.
   * Replays return the same.
   */
  readonly answeredBy: (id: string) => Provenance | undefined;
  /**
   * Receipts of the answers that the approvals and events of this saga have recorded so far,
   * without their contents. Replays return the same.
   */
  readonly receipts: readonly RecordedReceipt[];
}

/**
 * Reads the time, in milliseconds since the epoch. Replays and later forks get the same time.
 * @example
 * ```ts
 * function* age(born: number): Steps<number> {
 *   return (yield* now()) - born;
 * }
 * ```
 */
export function now(): Command<number> {
  return command<number>({ kind: 'now', id: 'now' });
}

/**
 * Draws a number in [0, 1). Replays and forks get the same number.
 * @example
 * ```ts
 * function* flip(): Steps<string> {
 *   return (yield* random()) < 0.5 ? 'heads' : 'tails';
 * }
 * ```
 */
export function random(): Command<number> {
  return command<number>({ kind: 'random', id: 'random' });
}

/**
 * Draws a random UUID (version 4). Replays and forks get the same UUID.
 * @example
 * ```ts
 * function* open(): Steps<void> {
 *   const id = yield* uuid();
 *   yield* step('open', () => db.open(id));
 * }
 * ```
 */
export function uuid(): Command<string> {
  return command<string>({ kind: 'uuid', id: 'uuid' });
}

/**
 * Reads facts about the saga, as of the first run: its ID, the turn, the size of its token, the
 * client's capabilities, and receipts.
 * @example
 * ```ts
 * function* isLong(): Steps<boolean> {
 *   const { turn, continueAsSuggested } = yield* info();
 *   return turn > 20 || continueAsSuggested;
 * }
 * ```
 */
export function info(): Command<SagaInfo> {
  return command<SagaInfo>({ kind: 'info', id: 'info' });
}
