import { isPlainObject, isRecord, isProgram } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type { SagaStore } from '../model/saga-store.ts';
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
import { wholeDuration } from './default-limits.ts';

/** How to set a store, for errors. */
export const howToStore =
  'Set store: memoryStore() for one process, or for a fleet that of a database, such as redisStore(client) of @mcp-saga/redis.';

const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;

/** Checks the options, for JavaScript too. Throws TypeError with the name of the option. */
export function assertHostOptions(options: SagaHostOptions): void {
  assertKnownOptions(options, hostNames, hostGroups);
  const {
    name,
    audience,
    sagas,
    auth = {},
    queue,
    answerers = {},
    telemetry,
    studio,
    testing = {},
  } = options;
  assertName('name', name);
  if (audience !== undefined) assertName('audience', audience);
  if (!Array.isArray(sagas))
    throw optionError('sagas: expected an array of results of saga(…).', {
      code: sagas === undefined ? 'missing_option' : 'invalid_option',
    });
  const bad = sagas.findIndex((saga: unknown) => !isProgram(saga));
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
  assertStore(options.store);
  assertQueue(queue, options);
  assertOutside(options);
  assertAnswerers(answerers);
  assertHooks(options);
  assertCallers(options);
  assertCompensators(options);
  assertOneOf('testing.sealing', testing.sealing, ['auto', 'fast', 'portable']);
  assertFunction('testing.sleep', testing.sleep);
  if (testing.clock !== undefined) assertClock('testing.clock', testing.clock);
}

function assertName(option: string, name: unknown): void {
  if (typeof name === 'string' && name !== '' && !/\p{Cs}/u.test(name)) return;
  throw optionError(`${option}: expected the name of this service, such as 'deployer'.`, {
    code: name === undefined ? 'missing_option' : 'invalid_option',
  });
}

/** Returns the studio of a host. Throws TypeError without one. */
export function studioOf({ studio }: Pick<SagaHostOptions, 'studio'>): NonNullable<typeof studio> {
  if (hasMethods(studio, ['telemetry', 'fetch'])) return studio as NonNullable<typeof studio>;
  const code = studio === undefined ? 'missing_option' : 'invalid_option';
  throw optionError('studio: expected the result of createStudio() of mcp-saga/studio.', { code });
}

/** Keys of other forms are checked when they are read. */
function assertKeys({ keys, url }: SagaHostOptions): void {
  if (!isKeySource(keys)) return;
  assertKnown('keys', keys, sourceNames);
  const { load, tenantOf, links, refresh } = keys;
  if (typeof load !== 'function') {
    throw optionError(
      'keys.load: expected a function that returns keys, such as async () => await readSecret().',
    );
  }
  assertFunction('keys.tenantOf', tenantOf);
  if (url !== undefined && tenantOf !== undefined && links === undefined) {
    throw optionError(
      'keys.links: expected keys that seal the names of tenants in links, which `url` requires with `tenantOf`. Make them with generateKey().',
      { code: 'missing_option' },
    );
  }
  if (refresh !== undefined) wholeDuration('keys.refresh', refresh);
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
  assertOneOf('answerers.instantRefusals', instantRefusals, ['refused', 'unsupported']);
}

function assertOutside({ url, webhooks, page, store }: SagaHostOptions): void {
  if (url === undefined) {
    for (const [name, option] of Object.entries({ webhooks, page }))
      if (option !== undefined)
        throw optionError(`${name}: requires \`url\`, the public URL of the server.`, {
          code: 'missing_option',
        });
    return;
  }
  if (typeof url !== 'function') publicUrl(url);
  assertHasStore('url', store);
  if (webhooks !== undefined && !isPlainObject(webhooks))
    throw optionError('webhooks: expected an object of functions by their names.');
  for (const [name, check] of Object.entries(webhooks ?? {}))
    assertFunction(`webhooks.${name}`, check ?? null);
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
      "url: expected the public URL of the server, such as 'https://shop.example'. HTTP is allowed only on loopback.",
    );
  }
  if (/[?#]/.test(text)) throw optionError('url: expected a URL without a query or a fragment.');
  return text.replace(/\/+$/, '');
}

/** Without a guard, the client and the queue would both run a turn. */
function assertQueue(queue: SagaQueue | undefined, { store }: SagaHostOptions): void {
  if (queue === undefined) return;
  if (!hasMethods(queue, ['send'])) {
    throw optionError(
      `queue: expected memoryQueue() for one process, or a queue with the method send().${callHint(queue)}`,
    );
  }
  for (const name of ['remove', 'wake', 'start', 'receive'] as const)
    assertFunction(`queue.${name}`, queue[name]);
  assertHasStore('queue', store);
}

function assertCallers({ anonymous, starts, shortTokens, store }: SagaHostOptions): void {
  assertOneOf('starts.unkeyed', starts?.unkeyed, ['handshake', 'run']);
  assertFunction('starts.key', starts?.key);
  for (const [what, consent] of Object.entries(anonymous ?? {}))
    assertOneOf(`anonymous.${what}`, consent, ['accept']);
  if (shortTokens !== undefined && typeof shortTokens !== 'boolean')
    throw optionError('shortTokens: expected true, or false.');
  if (shortTokens === true) assertHasStore('shortTokens', store);
}

function assertHasStore(option: string, store: SagaStore | undefined): void {
  if (store !== undefined) return;
  throw optionError(`${option}: requires a store. ${howToStore}`, { code: 'missing_option' });
}

/**
 * Throws for a store without its methods, which would fail each turn after its effects, or leave
 * the turn unguarded.
 */
function assertStore(store: unknown): void {
  if (store === undefined || hasMethods(store, storeMethods)) return;
  throw optionError(`store: expected a store. ${howToStore}${callHint(store)}`);
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
