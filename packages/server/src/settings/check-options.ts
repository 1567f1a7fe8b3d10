import type { TaskOptions, SagaHostOptions } from '../model/host-options.ts';
import { assertClock } from './clock.ts';
import type { HostHooks } from '../model/hooks.ts';
import { defaultHostLimits } from './limits.ts';

// What a host can be given, so that an option that is written otherwise is not ignored in silence.
const known: { readonly [name in keyof SagaHostOptions]-?: true } = {
  sagas: true,
  keys: true,
  audience: true,
  principal: true,
  authorize: true,
  admit: true,
  guard: true,
  whenGuardIsDown: true,
  guardLease: true,
  sampling: true,
  modelAnswers: true,
  ladder: true,
  clientRounds: true,
  instantRefusals: true,
  compensators: true,
  tasks: true,
  resumableRequests: true,
  handles: true,
  tokenTtl: true,
  maxLifetime: true,
  turnBudget: true,
  maxHold: true,
  rejectIssuedBefore: true,
  limits: true,
  hooks: true,
  hookTimeoutMs: true,
  telemetry: true,
  clock: true,
  sleep: true,
  environment: true,
  sealing: true,
};

const hookNames: { readonly [name in keyof HostHooks]-?: true } = {
  onReject: true,
  onIgnoredAnswer: true,
  onInstantRefusal: true,
  onStep: true,
  onSuspended: true,
  onSettled: true,
  onTurn: true,
  onError: true,
  onWarning: true,
};

const taskNames: { readonly [name in keyof TaskOptions]-?: true } = {
  store: true,
  ttl: true,
  maxIdLength: true,
  pollInterval: true,
  bearer: true,
};

const guardMethods = ['begin', 'finish', 'release', 'forget', 'claim'];

const rungs = {
  elicitation: ['client', 'model', 'fallback'],
  sampling: ['client', 'host', 'model'],
} as const;

/**
 * Checks what types cannot: JavaScript has none, and a misspelt option would protect nobody.
 *
 * @throws TypeError that names the option and what is expected
 */
export function assertHostOptions(options: SagaHostOptions): void {
  assertKnown('host option', 'options', options, known);
  const { audience, sagas, modelAnswers, whenGuardIsDown, ladder = {}, telemetry, principal } = options;
  if (typeof audience !== 'string' || audience === '') {
    throw new TypeError(
      "createSagaHost needs an audience: the name of this service, for example audience: 'deployer'.",
    );
  }
  if (!Array.isArray(sagas)) throw new TypeError('sagas: expected an array of what saga(…) returns.');
  const bad = sagas.findIndex(
    (saga: unknown) => typeof (Object(saga) as { readonly advance?: unknown }).advance !== 'function',
  );
  if (bad !== -1) throw new TypeError(`sagas[${bad}]: expected what saga(…) returns.`);
  assertOneOf('modelAnswers', modelAnswers, ['accept', 'refuse']);
  assertOneOf('whenGuardIsDown', whenGuardIsDown, ['closed', 'open']);
  const refusals = { withinMs: true, treatAs: true };
  assertKnown('option of instantRefusals', 'instantRefusals', options.instantRefusals, refusals);
  assertOneOf('instantRefusals.treatAs', options.instantRefusals?.treatAs, ['refused', 'unsupported']);
  assertOneOf('sealing', options.sealing, ['auto', 'fast', 'portable']);
  if (telemetry !== undefined && typeof telemetry?.turn !== 'function') {
    throw new TypeError('telemetry: expected what openTelemetry() of @mcp-saga/opentelemetry returns.');
  }
  if (principal !== undefined && principal !== 'client-only' && typeof principal !== 'function') {
    throw new TypeError(
      "principal: expected (authInfo) => ({ issuer, subject, client }), which says whose a saga is, or 'client-only'.",
    );
  }
  for (const name of ['authorize', 'admit', 'sampling', 'sleep'] as const)
    assertFunction(name, options[name]);
  if (options.clock !== undefined) assertClock('clock', options.clock);
  assertGuard(options);
  assertHooks(options);
  assertTasks(options);
  assertKnown('limit', 'limits', options.limits, defaultHostLimits);
  assertCompensators(options);
  assertRejectIssuedBefore(options);
  for (const [need, tried] of Object.entries(ladder) as [keyof typeof rungs, readonly unknown[]][]) {
    if (!Object.hasOwn(rungs, need)) throw new TypeError(`ladder.${need}: there is no such ladder.`);
    if (!Array.isArray(tried))
      throw new TypeError(`ladder.${need}: expected a list, the first to be tried first.`);
    for (const rung of tried) assertOneOf(`ladder.${need}`, rung, rungs[need]);
  }
}

/** Without its methods each turn would fail behind its effects, or run unguarded where that is allowed. (T13) */
function assertGuard({ guard }: SagaHostOptions): void {
  if (guard === undefined || hasMethods(guard, guardMethods)) return;
  throw new TypeError(
    'guard: expected what memoryGuard() returns, for one process, or redisGuard(client) of @mcp-saga/redis, for a ' +
      `fleet.${howToCall(guard)}`,
  );
}

function assertTasks({ tasks, resumableRequests, handles }: SagaHostOptions): void {
  assertKnown('option of resumableRequests', 'resumableRequests', resumableRequests, { bearer: true });
  assertOneOf('resumableRequests.bearer', resumableRequests?.bearer, ['accept']);
  assertKnown('option of tasks', 'tasks', tasks, taskNames);
  assertKnown('option of handles', 'handles', handles, { store: true });
  const { store, bearer } = tasks ?? {};
  assertOneOf('tasks.bearer', bearer, ['accept']);
  if (handles !== undefined) assertStore('handles.store', handles.store);
  if (store !== undefined) assertStore('tasks.store', store);
}

function assertStore(name: string, store: unknown): void {
  if (hasMethods(store, ['read', 'write'])) return;
  throw new TypeError(
    `${name}: expected what memoryTaskStore() returns, for one process, or redisTaskStore(client) of ` +
      `@mcp-saga/redis, for a fleet.${howToCall(store)}`,
  );
}

/** A misspelt hook would tell nobody. What an object of a class of the operator's own has besides is not ours to judge. */
function assertHooks({ hooks }: SagaHostOptions): void {
  if (hooks === undefined) return;
  if (isPlain(hooks)) assertKnown('hook', 'hooks', hooks, hookNames);
  for (const name of Object.keys(hookNames)) assertFunction(`hooks.${name}`, Reflect.get(hooks, name));
}

function assertCompensators({ compensators = [] }: SagaHostOptions): void {
  if (!Array.isArray(compensators) || !compensators.every((one) => hasMethods(one, ['run']))) {
    throw new TypeError('compensators: expected a list of what compensator(name, schema, run) returns.');
  }
  const names = compensators.map(({ name }: { readonly name: string }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw new TypeError(`Two compensators are named '${twice}'. Tokens know them by name: rename one of them.`);
}

// From 1973 to the end of what a Date can hold: what counts seconds lies before it.
const times = [1e11, 8.64e15] as const;

/** As seconds it would refuse nothing, as no number at all everything. */
function assertRejectIssuedBefore({ rejectIssuedBefore: time }: SagaHostOptions): void {
  if (time === undefined || time === 0) return;
  if (typeof time === 'number' && time >= times[0] && time <= times[1]) return;
  throw new RangeError(
    "rejectIssuedBefore: expected milliseconds since the epoch, such as Date.parse('2026-01-31T12:00:00Z').",
  );
}

/** @throws TypeError that names what there is, where something else is given */
function assertKnown(what: string, field: string, given: object | undefined, names: object): void {
  if (given === undefined) return;
  const list = Object.keys(names).join(', ');
  if (typeof given !== 'object' || given === null) {
    throw new TypeError(`${field}: expected an object of ${list}.`);
  }
  const other = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (other !== undefined) throw new TypeError(`There is no ${what} '${other}'. There are: ${list}.`);
}

function assertFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new TypeError(`${name}: expected a function.`);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function');
}

/** What to write where the function is given that makes it. */
function howToCall(given: unknown): string {
  return typeof given === 'function' ? ` Call it: ${given.name}(…).` : '';
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function assertOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  throw new TypeError(`${name}: expected ${values.map((one) => `'${one}'`).join(' or ')}.`);
}
