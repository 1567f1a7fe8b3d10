import type { ClientNeed, Json } from '@mcp-saga/core';
import { TokenRefused, type Claims } from '@mcp-saga/seal';
import type { HostParts } from '../../settings/host-parts.ts';
import { readSealedJson } from '../../token/sealed-saga.ts';
import type { WireRequest } from '../../model/client-call.ts';
import type { TaskStore } from '../../model/task-store.ts';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** A question of a task, from when it is asked until its answer is used. */
export interface TaskQuestion {
  /** What the client sees: never used for two questions. */
  readonly key: string;
  readonly stepId: string;
  readonly request: WireRequest;
  readonly answer?: { readonly result: Json };
}

/** All there is of a task between two requests. It is sealed before a store gets it. Times are ms since the epoch. */
export interface TaskRecord {
  readonly createdAt: number;
  /** When the status changed last. */
  readonly lastUpdatedAt: number;
  readonly expiresAt: number;
  readonly status: TaskStatus;
  /** A digest of the request that made it: another request of the same saga is not given this task. */
  readonly origin: string;
  /** What the client declared when it called. */
  readonly client: { readonly asks: readonly ClientNeed[]; readonly capabilities?: Json };
  /** The saga's newest token, until it is over. */
  readonly token?: string;
  readonly questions: readonly TaskQuestion[];
  /** How often each step was asked under a key of its own. */
  readonly keys: readonly (readonly [stepId: string, count: number])[];
  /** When there is something to run; without it, only the client brings the task forward. */
  readonly due?: number;
  /** Who runs the turn, until when. */
  readonly lease?: { readonly id: string; readonly until: number };
  /** The turn that was begun and is not known to have ended: it is repeated as it was, or a guard refuses it. */
  readonly turn?: { readonly action: 'resume' | 'cancel'; readonly keys: readonly string[] };
  /** It has gone on as a saga that may have something to undo, be it in the turn that is not known to have ended. */
  readonly undoes?: boolean;
  /** The client wants it to end. */
  readonly isCancelled?: boolean;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
  readonly message?: string;
  readonly progress?: TaskProgress;
}

/** How far a task has told that it is. */
export interface TaskProgress {
  /** The token of the call, which is kept to the end. */
  readonly token: string | number;
  readonly value?: number;
  readonly total?: number;
  readonly message?: string;
  /** The last value that the client was told. */
  readonly told?: number;
}

/** A task in a store, as its handlers know it. */
export interface StoredTaskRef {
  readonly host: HostParts;
  readonly store: TaskStore;
  readonly sagaId: string;
  /** The claims of the task, which each of its records has sealed. */
  readonly claims: Claims;
}

// Tokens are granted 30 seconds of skew: the record outlives its id.
const margin = 60_000;

// Writers of one task are its drive and a few requests: none of them comes first this often.
const maxTries = 100;

/** Whether a task has ended. */
export function isOver({ status }: TaskRecord): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** Whether a question waits for its answer. */
export function isOpen({ answer }: TaskQuestion): boolean {
  return answer === undefined;
}

/** Keeps a new task. False where the saga is one already. */
export async function createRecord(task: StoredTaskRef, record: TaskRecord): Promise<boolean> {
  return await task.store.write(task.sagaId, await seal(task, record), 0, record.expiresAt + margin);
}

/** A task as it is. */
export async function readRecord(task: StoredTaskRef): Promise<TaskRecord | undefined> {
  return (await readTask(task))?.record;
}

/** A task as it is, with the claims that it was created with. */
export async function readTask(task: StoredTaskRef): Promise<OpenTask | undefined> {
  const stored = await task.store.read(task.sagaId);
  return stored === undefined ? undefined : await open(task, stored.sealed);
}

interface OpenTask {
  readonly record: TaskRecord;
  readonly claims: Claims;
}

/** Changes a task atomically, and returns it. Writes nothing if `change` returns undefined. Throws TokenRefused if it is gone. */
export async function changeRecord(
  task: StoredTaskRef,
  change: (record: TaskRecord) => TaskRecord | undefined,
): Promise<TaskRecord | undefined> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- again, where another writer came first
    const stored = await task.store.read(task.sagaId);
    if (stored === undefined) throw new TokenRefused('used');
    // oxlint-disable-next-line no-await-in-loop -- again, where another writer came first
    const { record: before } = await open(task, stored.sealed);
    const changed = change(before);
    if (changed === undefined) return undefined;
    const status = statusOf(changed);
    const lastUpdatedAt = status === before.status ? before.lastUpdatedAt : task.host.timing.clock();
    const after = { ...changed, status, lastUpdatedAt };
    // oxlint-disable-next-line no-await-in-loop -- again, where another writer came first
    const sealed = await seal(task, after);
    // oxlint-disable-next-line no-await-in-loop -- again, where another writer came first
    if (await task.store.write(task.sagaId, sealed, stored.version, after.expiresAt + margin)) return after;
  }
  throw new Error('The store of tasks rejects each write as outdated.');
}

function statusOf(record: TaskRecord): TaskStatus {
  if (isOver(record)) return record.status;
  return record.isCancelled !== true && record.questions.some(isOpen) ? 'input_required' : 'working';
}

async function seal({ host, sagaId, claims }: StoredTaskRef, record: TaskRecord): Promise<string> {
  const bytes = JSON.stringify(record);
  return await host.keys.responses.seal('blob', sagaId, claims, [{ bytes, compress: false }]);
}

async function open({ host, sagaId, claims: known }: StoredTaskRef, sealed: string): Promise<OpenTask> {
  const { principal } = known;
  const expect = { purpose: 'blob', sid: sagaId, principal, ignoreExpiry: true } as const;
  const { streams, claims } = await host.keys.responses.open(sealed, expect);
  return { record: readSealedJson(streams[0]) as TaskRecord, claims };
}
