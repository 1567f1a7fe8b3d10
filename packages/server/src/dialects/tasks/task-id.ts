import { present, engineVersion } from '@mcp-saga/core/program';
import {
  digestText,
  TokenRefused,
  type Claims,
  type Expectations,
  type Sealed,
} from '@mcp-saga/seal';
import { assertBegun, principalOf } from '../../requests/open-for-caller.ts';
import type { Caller } from '../../model/caller.ts';
import type { HostParts } from '../../settings/host-parts.ts';
import { readSealed } from '../../store/sealed-values.ts';
import { openSealed } from '../../token/resolve-program.ts';
import type { TaskSettings } from '../../settings/task-settings.ts';

/** Form of a task ID: the ID of the saga and a secret, both 16 random bytes. No token has it. */
const form = /^([\w-]{22})\.([\w-]{22})$/;

/** What the ID of a task leads to. */
export interface TaskIdentity {
  readonly sagaId: string;
  /** Claims of the task, sealed into its record. */
  readonly claims: Claims;
}

/**
 * Makes the ID of a task. Claude Code rejects IDs over 128 characters, and proxies truncate long
 * headers, so the store holds the state.
 */
export function toTaskId(sagaId: string, { jti }: Claims): string {
  return `${sagaId}.${jti}`;
}

/** Opens a task ID for its caller. Throws TokenRefused, or `clock_behind`. */
export async function openTaskId(
  host: HostParts,
  {
    tasks,
    taskId,
    caller,
  }: { readonly tasks: TaskSettings; readonly taskId: unknown; readonly caller: Caller },
): Promise<TaskIdentity> {
  const [, sagaId, secret] = (typeof taskId === 'string' && form.exec(taskId)) || [];
  if (sagaId === undefined || secret === undefined) throw new TokenRefused('malformed');
  const principal = await principalOf(caller, host.gate);
  const { rejectIssuedBefore } = host.gate;
  const { sid, claims } = await openStored(
    host,
    tasks,
    { sagaId, secret },
    {
      purpose: 'blob',
      methods: ['tools/call'],
      principal,
      engines: { min: 1, max: engineVersion },
      allowFuture: true,
      ...present({ rejectIssuedBefore }),
    },
  );
  // The option may have changed since.
  if (!mayHaveTasks(tasks, principal)) throw new TokenRefused('principal');
  const program = host.registry.named(claims.saga.name);
  if (program === undefined) throw new TokenRefused('target');
  if (!(await host.gate.authorize(caller, { name: program.name, version: claims.saga.version })))
    throw new TokenRefused('forbidden');
  assertBegun(host, claims);
  return { sagaId: sid, claims };
}

/** Opens the record of a stored task. Its claims are the claims of the task. */
async function openStored(
  { keys, observer }: HostParts,
  { store }: TaskSettings,
  { sagaId, secret }: { readonly sagaId: string; readonly secret: string },
  expect: Expectations,
): Promise<Sealed> {
  const stored = await readSealed(store, 'task', sagaId);
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
