import { isPlainObject, isRecord } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type { AnswererOptions, AuthOptions, SagaHostOptions } from '../model/host-options.ts';
import type { SagaQueue } from '../model/queue-types.ts';
import { assertClock } from './clock.ts';
import { storeMethods } from '../store/memory-store.ts';
import { isKeySource } from './host-keys.ts';
import { assertServices } from './host-services.ts';
import {
  assertKnown,
  assertKnownOptions,
  hookNames,
  hostGroups,
  hostNames,
  sourceNames,
} from './known-options.ts';
import { wholeDuration, wholeNumber } from './default-limits.ts';

const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Checks the options, for JavaScript too. Throws TypeError with the name of the option. */
export function assertHostOptions(options: SagaHostOptions): void {
  assertKnownOptions(options, hostNames, hostGroups);
  const {
    audience,
    sagas,
    auth = {},
    queue,
    answerers = {},
    telemetry,
    studio,
    testing = {},
  } = options;
  if (typeof audience !== 'string' || audience === '') {
    throw optionError("audience: expected the name of this service, such as 'deployer'.", {
      code: audience === undefined ? 'missing_option' : 'invalid_option',
    });
  }
  if (!Array.isArray(sagas))
    throw optionError('sagas: expected an array of results of saga(…).', {
      code: sagas === undefined ? 'missing_option' : 'invalid_option',
    });
  const bad = sagas.findIndex(
    (saga: unknown) =>
      typeof (Object(saga) as { readonly advance?: unknown }).advance !== 'function',
  );
  if (bad !== -1) throw optionError(`sagas[${bad}]: expected the result of saga(…).`);
  if (telemetry !== undefined && typeof telemetry?.turn !== 'function') {
    throw optionError(
      'telemetry: expected the result of openTelemetry() of @mcp-saga/opentelemetry.',
    );
  }
  if (studio !== undefined) studioOf(options);
  assertKeys(options);
  assertAuth(auth);
  assertServices(options);
  if (options.store !== undefined) assertStore('store', options.store);
  assertGuard(options);
  assertQueue(queue, options);
  assertOutside(options);
  assertAnswerers(answerers);
  assertHooks(options);
  assertTasks(options);
  assertCompensators(options);
  assertOneOf('testing.sealing', testing.sealing, ['auto', 'fast', 'portable']);
  assertFunction('testing.sleep', testing.sleep);
  if (testing.clock !== undefined) assertClock('testing.clock', testing.clock);
}

/** Returns the studio of a host. Throws TypeError without one. */
export function studioOf({ studio }: Pick<SagaHostOptions, 'studio'>): NonNullable<typeof studio> {
  if (hasMethods(studio, ['telemetry', 'fetch'])) return studio as NonNullable<typeof studio>;
  const code = studio === undefined ? 'missing_option' : 'invalid_option';
  throw optionError('studio: expected the result of createStudio() of mcp-saga/studio.', { code });
}

/** Keys of other forms are checked when they are read. */
function assertKeys({ keys, outside }: SagaHostOptions): void {
  if (!isKeySource(keys)) return;
  assertKnown('keys', keys, sourceNames);
  const { load, tenantOf, links, refresh, maxTenants } = keys;
  if (typeof load !== 'function') {
    throw optionError(
      'keys.load: expected a function that returns keys, such as async () => await readSecret().',
    );
  }
  assertFunction('keys.tenantOf', tenantOf);
  if (outside !== undefined && tenantOf !== undefined && links === undefined) {
    throw optionError(
      'keys.links: expected keys that seal the names of tenants in links, which `outside` requires with `tenantOf`. Make them with generateKey().',
      { code: 'missing_option' },
    );
  }
  if (refresh !== undefined) wholeDuration('keys.refresh', refresh);
  if (maxTenants !== undefined) wholeNumber('keys.maxTenants', maxTenants);
}

function assertAuth({
  principal,
  authorize,
  rateLimit,
  mayAnswer,
  rejectIssuedBefore,
}: AuthOptions): void {
  if (principal !== undefined && principal !== 'client-only' && typeof principal !== 'function') {
    throw optionError(
      "auth.principal: expected (user) => ({ issuer, subject, client }), to name the owner of a saga, or 'client-only'.",
    );
  }
  assertFunction('auth.authorize', authorize);
  assertFunction('auth.rateLimit', rateLimit);
  assertFunction('auth.mayAnswer', mayAnswer);
  assertRejectIssuedBefore(rejectIssuedBefore);
}

function assertAnswerers({ sampling, model, instantRefusals }: AnswererOptions): void {
  assertFunction('answerers.sampling', sampling);
  assertOneOf('answerers.model', model, ['accept']);
  assertOneOf('answerers.instantRefusals.treatAs', instantRefusals?.treatAs, [
    'refused',
    'unsupported',
  ]);
}

function assertGuard({ guard, store }: SagaHostOptions): void {
  if (guard === undefined) return;
  assertOneOf('guard.onDown', guard.onDown, ['closed', 'open']);
  assertStore('guard.store', guard.store ?? store);
}

function assertOutside({ outside, store }: SagaHostOptions): void {
  if (outside === undefined) return;
  const { url, webhooks = {} } = outside;
  if (typeof url !== 'function') publicUrl(url);
  assertStore('outside.store', outside.store ?? store);
  for (const [name, check] of Object.entries(webhooks))
    assertFunction(`outside.webhooks.${name}`, check ?? null);
}

/**
 * Returns the public URL of a server without a slash at the end. Throws TypeError for another
 * value.
 */
export function publicUrl(url: unknown): string {
  const text = typeof url === 'string' && URL.canParse(url) ? url : 'none:';
  const { protocol, hostname } = new URL(text);
  // Links are secrets, and browsers say only to HTTPS and loopback which page sent a form.
  if (protocol !== 'https:' && !(protocol === 'http:' && loopback.test(hostname))) {
    throw optionError(
      "outside.url: expected the public URL of the server, such as 'https://shop.example'. HTTP is allowed only on loopback.",
    );
  }
  if (/[?#]/.test(text))
    throw optionError('outside.url: expected a URL without a query or a fragment.');
  return text.replace(/\/+$/, '');
}

/** Without a guard, the client and the queue would both run a turn. */
function assertQueue(queue: SagaQueue | undefined, { guard, store }: SagaHostOptions): void {
  if (queue === undefined) return;
  if (!hasMethods(queue, ['send'])) {
    throw optionError(
      `queue: expected memoryQueue() for one process, or a queue with the method send().${callHint(queue)}`,
    );
  }
  for (const name of ['remove', 'wake', 'start', 'receive'] as const)
    assertFunction(`queue.${name}`, queue[name]);
  if ((guard?.store ?? store) !== undefined) return;
  throw optionError(
    'queue: requires a store. Set store: memoryStore() for one process, or a shared store for a fleet (docs/operate/stores.md).',
  );
}

function assertTasks({ tasks, anonymous, starts, shortTokens, store: all }: SagaHostOptions): void {
  assertOneOf('starts.unkeyed', starts?.unkeyed, ['handshake', 'run']);
  assertFunction('starts.key', starts?.key);
  for (const [what, consent] of Object.entries(anonymous ?? {}))
    assertOneOf(`anonymous.${what}`, consent, ['accept']);
  const { store } = tasks ?? {};
  if (shortTokens !== undefined && typeof shortTokens !== 'boolean')
    throw optionError('shortTokens: expected true, or false.');
  if (shortTokens === true && all === undefined) {
    throw optionError('shortTokens: requires the option `store`, which keeps their states.', {
      code: 'missing_option',
    });
  }
  if (store !== undefined) assertStore('tasks.store', store);
}

/**
 * Throws for a store without its methods, which would fail each turn after its effects, or leave
 * the turn unguarded.
 */
function assertStore(name: string, store: unknown): void {
  if (hasMethods(store, storeMethods)) return;
  throw optionError(
    `${name}: expected memoryStore() for one process, or that of a database for a fleet, such as redisStore(client) of @mcp-saga/redis.${callHint(store)}`,
    { code: store === undefined ? 'missing_option' : 'invalid_option' },
  );
}

/** Hint for `memoryStore` instead of `memoryStore()`. */
function callHint(given: unknown): string {
  return typeof given === 'function' ? ` Call it: ${given.name}(…).` : '';
}

/**
 * Checks hook names, since a misspelled hook is never called. Instances of classes may have other
 * members.
 */
function assertHooks({ hooks }: SagaHostOptions): void {
  if (hooks === undefined) return;
  if (!isRecord(hooks) || isPlainObject(hooks)) assertKnown('hooks', hooks, hookNames);
  for (const name of Object.keys(hookNames))
    assertFunction(`hooks.${name}`, Reflect.get(hooks, name));
}

function assertCompensators({ compensators = [] }: SagaHostOptions): void {
  if (!Array.isArray(compensators) || !compensators.every((one) => hasMethods(one, ['run']))) {
    throw optionError(
      'compensators: expected an array of results of compensator(name, schema, run).',
    );
  }
  const names = compensators.map(({ name }: { readonly name: string }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw optionError(
    `Two compensators are named '${twice}'. Rename a compensator: tokens contain the names.`,
  );
}

// From 1973 to the largest Date. Times in seconds are smaller.
const times = [1e11, 8.64e15] as const;

/** A time in seconds would reject no token, and NaN every token. */
function assertRejectIssuedBefore(time: number | undefined): void {
  if (time === undefined || time === 0) return;
  if (typeof time === 'number' && time >= times[0] && time <= times[1]) return;
  throw optionError(
    "auth.rejectIssuedBefore: expected milliseconds since the epoch, such as Date.parse('2026-01-31T12:00:00Z').",
    { type: RangeError },
  );
}

function assertFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw optionError(`${name}: expected a function.`);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every(
    (name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function',
  );
}

export function assertOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  throw optionError(`${name}: expected ${values.map((one) => `'${one}'`).join(' or ')}.`);
}
