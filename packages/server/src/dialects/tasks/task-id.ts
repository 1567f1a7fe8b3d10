import { engineVersion } from '@mcp-saga/core';
import { TokenRefused, TokenTooLarge, type Claims } from '@mcp-saga/seal';
import { assertBegun } from '../../host/assert-begun.ts';
import { principalOf, type Caller } from '../../host/caller.ts';
import type { HostSettings } from '../../host/host-options.ts';
import { found, openSealed, type OpenSaga } from '../../host/open-saga.ts';
import { sealSagaAs, type SealedSaga } from '../../host/sealed-saga.ts';
import type { TaskSettings } from './options.ts';

/** The longest id that is handed out, in characters: it travels in a header, which proxies cut or refuse at 8 KiB. */
export const maxTaskIdBytes = 4_096;

/** What the id of a task says: which stored task it is, or, without a store, all there is of it. */
export type OpenTaskId =
  | { readonly sagaId: string; readonly claims: Claims; readonly saga?: undefined }
  | { readonly sagaId: string; readonly claims: Claims; readonly saga: OpenSaga };

/** The id of a stored task: it seals whose and which task it is. Undefined where it would be too long. */
export async function storedTaskId(
  { sealer }: HostSettings,
  sagaId: string,
  claims: Claims,
): Promise<string | undefined> {
  // Without a stream it holds no saga.
  return fitting(await sealer.seal('task', sagaId, claims, []));
}

/** The id of a task without a store: it seals all there is of it. Undefined where it would be too long. */
export async function sealedTaskId({ sealer }: HostSettings, saga: SealedSaga): Promise<string | undefined> {
  try {
    return fitting(await sealSagaAs('task', sealer, saga));
  } catch (error) {
    if (error instanceof TokenTooLarge) return undefined;
    throw error;
  }
}

/**
 * Opens the id of a task for a caller whose it is.
 *
 * @throws TokenRefused for whatever is wrong with it
 * @throws SagaHostError `clock_behind` if the ID was issued in the future of this host, `version_gone` if a newer release
 * sealed it
 */
export async function openTaskId(
  settings: HostSettings,
  tasks: TaskSettings,
  taskId: unknown,
  caller: Caller,
): Promise<OpenTaskId> {
  if (typeof taskId !== 'string' || taskId.length > maxTaskIdBytes) throw new TokenRefused('malformed');
  const principal = await principalOf(caller, settings.principal);
  const { rejectIssuedBefore } = settings;
  const sealed = await openSealed(settings, taskId, {
    purpose: 'task',
    methods: ['tools/call'],
    principal,
    engines: { min: 1, max: engineVersion },
    allowFuture: true,
    ...(rejectIssuedBefore === undefined ? {} : { rejectIssuedBefore }),
  });
  // The option may have been taken back since.
  if (!mayHaveTasks(tasks, principal)) throw new TokenRefused('principal');
  const { sid, claims, streams } = sealed;
  const program = settings.registry.named(claims.saga.name);
  if (program === undefined) throw new TokenRefused('target');
  if (!(await settings.authorize(caller, { name: program.name, version: claims.saga.version })))
    throw new TokenRefused('forbidden');
  assertBegun(settings, claims);
  const identity = { sagaId: sid, claims };
  return streams.length === 0 ? identity : { ...identity, saga: found(settings, sealed) };
}

/** Whether a caller is given tasks: ids lie about in headers and logs, so that one is not enough by itself. (T14) */
export function mayHaveTasks({ bearer }: TaskSettings, principal: string | null): boolean {
  return principal !== null || bearer === 'accept';
}

function fitting(taskId: string): string | undefined {
  return taskId.length <= maxTaskIdBytes ? taskId : undefined;
}
