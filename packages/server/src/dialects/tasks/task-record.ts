import type { ClientNeed, Json, ClientStep } from '@mcp-saga/core';
import { skewMs, TokenRefused, type Claims } from '@mcp-saga/seal';
import type { HostParts } from '../../settings/host-parts.ts';
import { atAnyTime, readSealedRecord } from '../../token/sealed-saga.ts';
import type { WireRequest } from '../../model/call-types.ts';
import type { SagaStore, Written } from '../../model/saga-store.ts';
import { readSealed, writeSealed } from '../../store/sealed-values.ts';
import { awayMs } from '../../settings/task-settings.ts';
import { chargeFor } from '../../token/charge-for.ts';
import { toRequest } from '../../wire/step-requests.ts';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

/** Question of a task, until its answer is used. */
export interface TaskQuestion {
  /** Key on the wire, never used for two questions. */
  readonly key: string;
  readonly stepId: string;
  readonly request: WireRequest;
  readonly answer?: { readonly result: Json };
}

/**
 * State of a task between two requests, sealed before it is stored. Times are ms since the epoch.
 */
export interface TaskRecord {
  readonly createdAt: number;
  readonly lastUpdatedAt: number;
  readonly expiresAt: number;
  readonly status: TaskStatus;
  /**
   * Digest of the request that created the task. Other requests of a saga with `reuse: 'ok'` do not
   * get the task.
   */
  readonly origin: string;
  /** Capabilities that the client declared with the call. */
  readonly client: { readonly asks: readonly ClientNeed[]; readonly capabilities?: Json };
  /** Newest token of the saga. Absent: the saga has ended. */
  readonly token?: string;
  readonly questions: readonly TaskQuestion[];
  /** Number of keys per step. */
  readonly keys: readonly (readonly [stepId: string, count: number])[];
  /** Time at which the task has work to do. Absent: only the client continues the task. */
  readonly due?: number;
  /** Lease of the process that runs the turn. */
  readonly lease?: { readonly id: string; readonly until: number };
  /**
   * Turn that began and may not have finished. Repeated unchanged, since a guard would reject
   * another request.
   */
  readonly turn?: { readonly action: 'resume' | 'cancel'; readonly keys: readonly string[] };
  readonly isCancelled?: boolean;
  /** `true` if other people or systems have answered since the last turn began. */
  readonly isAnswered?: boolean;
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
  readonly message?: string;
  readonly progress?: TaskProgress;
}

/** Progress of a task. */
export interface TaskProgress {
  readonly token: string | number;
  readonly value?: number;
  readonly total?: number;
  readonly message?: string;
  readonly told?: number;
}

/** Stored task, for its handlers. */
export interface StoredTaskRef {
  readonly host: HostParts;
  readonly store: SagaStore;
  readonly sagaId: string;
  /** Claims of the task, sealed into each of its records. */
  readonly claims: Claims;
}

// The record outlives its ID, even if the clock of the host is behind, and that of its store ahead.
const margin = 2 * skewMs;

// A task has only a few concurrent writers.
const maxTries = 100;

/** `true` if a task has ended. */
export function isOver({ status }: Pick<TaskRecord, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'cancelled';
}

/** `true` if a question waits for its answer. */
export function isOpen({ answer }: TaskQuestion): boolean {
  return answer === undefined;
}

/**
 * Stores a new task.
 *
 * - `other`: the saga is a task already
 * - `full`: the store keeps too much for the principal
 */
export async function createRecord(
  task: StoredTaskRef,
  record: TaskRecord,
): Promise<Written['status']> {
  return await write(task, record, 0, { isLimited: true });
}

async function write(
  task: StoredTaskRef,
  record: TaskRecord,
  expected: number,
  { isLimited }: { readonly isLimited: boolean },
): Promise<Written['status']> {
  const { store, host, sagaId, claims } = task;
  const sealed = await seal(task, record);
  const charge = await chargeFor(host, claims, { isLimited });
  const expiresAtMs = record.expiresAt + margin;
  return await writeSealed(store, 'task', sagaId, sealed, expected, { expiresAtMs, charge });
}

/** Reads the record of a task. */
export async function readRecord(task: StoredTaskRef): Promise<TaskRecord | undefined> {
  return (await readTask(task))?.record;
}

/** Reads a task with its original claims. */
export async function readTask(task: StoredTaskRef): Promise<OpenTask | undefined> {
  const stored = await readSealed(task.store, 'task', task.sagaId);
  return stored === undefined ? undefined : await open(task, stored.sealed);
}

interface OpenTask {
  readonly record: TaskRecord;
  readonly claims: Claims;
}

/**
 * Changes a task atomically, and returns the new record. Writes nothing if `change` returns
 * undefined. Throws TokenRefused.
 */
export async function changeRecord(
  task: StoredTaskRef,
  change: (record: TaskRecord) => TaskRecord | undefined,
): Promise<TaskRecord | undefined> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const stored = await readSealed(task.store, 'task', task.sagaId);
    if (stored === undefined) throw new TokenRefused('used');
    const { record: before } = await open(task, stored.sealed);
    const changed = change(before);
    if (changed === undefined) return undefined;
    const status = statusOf(changed);
    const now = task.host.timing.clock();
    const lastUpdatedAt = status === before.status ? before.lastUpdatedAt : now;
    // A result is not kept as long as a saga may wait.
    const expiresAt =
      isOver({ status }) && !isOver(before)
        ? Math.min(changed.expiresAt, now + awayMs)
        : changed.expiresAt;
    const after = { ...changed, status, lastUpdatedAt, expiresAt };
    if ((await write(task, after, stored.version, { isLimited: false })) === 'written')
      return after;
  }
  throw new Error(`The store rejected ${maxTries} writes of a task in a row as outdated.`);
}

/**
 * Lets the next request for the task of a saga drive it, because other people or systems have
 * answered. Without this, a task would look for answers only when its next look is due. Nothing, if
 * the saga is no task.
 */
export async function noteAnswer(host: HostParts, sagaId: string): Promise<void> {
  const store = host.offers.tasks?.store;
  const stored = store && (await readSealed(store, 'task', sagaId));
  if (store === undefined || stored === undefined) return;
  const expect = { purpose: 'blob', sid: sagaId, ...atAnyTime } as const;
  const { claims } = await host.keys.responses.open(stored.sealed, expect);
  await changeRecord({ host, store, sagaId, claims }, (record) =>
    isOver(record) ? undefined : { ...record, due: host.timing.clock(), isAnswered: true },
  );
}

function statusOf(record: TaskRecord): TaskStatus {
  if (isOver(record)) return record.status;
  return record.isCancelled !== true && record.questions.some(isOpen)
    ? 'input_required'
    : 'working';
}

async function seal({ host, sagaId, claims }: StoredTaskRef, record: TaskRecord): Promise<string> {
  const bytes = JSON.stringify(record);
  return await host.keys.responses.seal('blob', sagaId, claims, [{ bytes, compress: false }]);
}

async function open(
  { host, sagaId, claims: known }: StoredTaskRef,
  sealed: string,
): Promise<OpenTask> {
  const { principal } = known;
  const expect = { purpose: 'blob', sid: sagaId, principal, ignoreExpiry: true } as const;
  const { streams, claims } = await host.keys.responses.open(sealed, expect);
  const record = readSealedRecord<TaskRecord>(streams[0], {
    createdAt: 'number',
    lastUpdatedAt: 'number',
    expiresAt: 'number',
    status: 'string',
    origin: 'string',
    client: 'record',
    token: 'string?',
    questions: 'list',
    keys: 'list',
    due: 'number?',
    lease: 'record?',
    turn: 'record?',
    isCancelled: 'boolean?',
    isAnswered: 'boolean?',
    result: 'record?',
    error: 'record?',
    message: 'string?',
    progress: 'record?',
  });
  return { record, claims };
}

/**
 * Returns the questions of a task after a turn. An unchanged question keeps its key and answer.
 * Others get a new key: `target~2`.
 */
export function askedNow(
  record: Pick<TaskRecord, 'questions' | 'keys'>,
  used: readonly string[],
  steps: readonly ClientStep[],
): Pick<TaskRecord, 'questions' | 'keys'> {
  const counts = new Map(record.keys);
  const questions = steps.map((step): TaskQuestion => {
    const { stepId } = step;
    const request = toRequest(step);
    const before = record.questions.find(
      (question) =>
        question.stepId === stepId &&
        !used.includes(question.key) &&
        JSON.stringify(question.request) === JSON.stringify(request),
    );
    if (before !== undefined) return before;
    const count = (counts.get(stepId) ?? 0) + 1;
    counts.set(stepId, count);
    // IDs of steps contain no tilde.
    return { key: count === 1 ? stepId : `${stepId}~${count}`, stepId, request };
  });
  return { questions, keys: [...counts] };
}
