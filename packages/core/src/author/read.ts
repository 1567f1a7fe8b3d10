import type { Provenance } from '../model/client-step.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import type { Json } from '../values/json.ts';

/** What a saga can know about itself. */
export interface SagaInfo {
  /** The same from the first turn to the last, on every fork. */
  readonly sagaId: string;
  /** The turn in which this was read, from 1. */
  readonly turn: number;
  /** Bytes of the token this turn was resumed from; 0 in the first turn. */
  readonly tokenBytes: number;
  /** What the client declared that it can do; undefined when that is not known. */
  readonly capabilities: Json | undefined;
  /**
   * Source of the answer in this scope or at a full path: `client`, `model` (tool arguments), `server` (fallback or host's model),
   * `verified-url`. Undefined if not answered here yet. Replays return the same.
   */
  readonly answeredBy: (id: string) => Provenance | undefined;
}

/** The time, in milliseconds since the epoch: read once, the same under replay and on every fork from here. */
export function now(): Command<number> {
  return command<number>({ kind: 'now', id: 'now' });
}

/** A number in [0, 1), the same under replay and on every fork. */
export function random(): Command<number> {
  return command<number>({ kind: 'random', id: 'random' });
}

/** A random UUID (version 4), the same under replay and on every fork. */
export function uuid(): Command<string> {
  return command<string>({ kind: 'uuid', id: 'uuid' });
}

/** The saga's id, the turn, the size of the token, the client's capabilities: as they were when first read. */
export function info(): Command<SagaInfo> {
  return command<SagaInfo>({ kind: 'info', id: 'info' });
}
