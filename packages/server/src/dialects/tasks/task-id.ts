import { present, engineVersion } from '@mcp-saga/core/program';
import {
  digestText,
  TokenRefused,
  TokenTooLarge,
  type Claims,
  type Expectations,
  type Sealed,
} from '@mcp-saga/seal';
import { assertBegun, principalOf } from '../../requests/open-for-caller.ts';
import type { Caller } from '../../model/caller.ts';
import type { HostParts } from '../../settings/host-parts.ts';
import { readSealed } from '../../store/sealed-values.ts';
import { found, openSealed, type OpenSaga } from '../../token/resolve-program.ts';
import { sealSagaAs, toSealedSaga } from '../../token/sealed-saga.ts';
import type { SealedSaga } from '../../model/sealed-saga.ts';
import { maxTaskIdLength, type TaskSettings } from '../../settings/task-settings.ts';

/**
 * Form of the ID of a stored task: the saga's ID and a secret, both 16 random bytes. No token has
 * this form.
 */
const storedForm = /^([\w-]{22})\.([\w-]{22})$/;

/** Content of a task ID: the identity of a stored task or, without a store, its entire state. */
export type OpenTaskId =
  | { readonly sagaId: string; readonly claims: Claims; readonly saga?: undefined }
  | { readonly sagaId: string; readonly claims: Claims; readonly saga: OpenSaga };

/**
 * Makes the ID of a stored task. Claude Code rejects IDs over 128 characters, so the store holds
 * the state.
 */
export function storedTaskId(sagaId: string, { jti }: Claims): string {
  return `${sagaId}.${jti}`;
}

/**
 * Makes the ID of a task without a store, which seals the entire state. Returns undefined if the ID
 * would be too long.
 */
export async function sealedTaskId(
  { keys: { sealer } }: Pick<HostParts, 'keys'>,
  { maxIdLength }: TaskSettings,
  saga: SealedSaga,
): Promise<string | undefined> {
  try {
    const taskId = await sealSagaAs('task', sealer, saga);
    return taskId.length <= maxIdLength ? taskId : undefined;
  } catch (error) {
    if (error instanceof TokenTooLarge) return undefined;
    throw error;
  }
}

/** Opens a task ID for its caller. Throws TokenRefused, `clock_behind`, or `version_gone`. */
export async function openTaskId(
  host: HostParts,
  {
    tasks,
    taskId,
    caller,
  }: { readonly tasks: TaskSettings; readonly taskId: unknown; readonly caller: Caller },
): Promise<OpenTaskId> {
  if (typeof taskId !== 'string' || taskId.length > maxTaskIdLength)
    throw new TokenRefused('malformed');
  const principal = await principalOf(caller, host.gate);
  const { rejectIssuedBefore } = host.gate;
  const expect = {
    methods: ['tools/call'],
    principal,
    engines: { min: 1, max: engineVersion },
    allowFuture: true,
    ...present({ rejectIssuedBefore }),
  };
  const [, sagaId, secret] = storedForm.exec(taskId) ?? [];
  const sealed =
    sagaId === undefined || secret === undefined
      ? await openSealed(host.observer, host.keys.sealer, taskId, { ...expect, purpose: 'task' })
      : await openStored(host, tasks, { sagaId, secret }, { ...expect, purpose: 'blob' });
  // The option may have changed since.
  if (!mayHaveTasks(tasks, principal)) throw new TokenRefused('principal');
  const { sid, claims } = sealed;
  const program = host.registry.named(claims.saga.name);
  if (program === undefined) throw new TokenRefused('target');
  if (!(await host.gate.authorize(caller, { name: program.name, version: claims.saga.version })))
    throw new TokenRefused('forbidden');
  assertBegun(host, claims);
  const identity = { sagaId: sid, claims };
  if (sagaId !== undefined) return identity;
  return { ...identity, saga: found(host, toSealedSaga(sealed, taskId.length)) };
}

/** Opens the record of a stored task. Its claims are the claims of the task. */
async function openStored(
  { keys, observer }: HostParts,
  { store }: TaskSettings,
  { sagaId, secret }: { readonly sagaId: string; readonly secret: string },
  expect: Expectations,
): Promise<Sealed> {
  const stored = store && (await readSealed(store, 'task', sagaId));
  if (stored === undefined) throw new TokenRefused('used');
  const sealed = await openSealed(observer, keys.responses, stored.sealed, {
    ...expect,
    sid: sagaId,
  });
  // Digests are compared, to keep the secret out of the timing.
  if ((await digestText(sealed.claims.jti)) !== (await digestText(secret)))
    throw new TokenRefused('used');
  return sealed;
}

/**
 * `true` if a caller may use tasks. IDs appear in headers and logs, so an ID alone is not enough.
 */
export function mayHaveTasks(
  { acceptsAnonymous }: TaskSettings,
  principal: string | null,
): boolean {
  return principal !== null || acceptsAnonymous;
}
