import type { AnswerOptions, AuthOptions, GuardOptions, SagaHostOptions } from '../model/host-options.ts';
import { assertClock } from './clock.ts';
import { assertKnown, assertKnownOptions, hookNames, hostGroups, hostNames } from './known-options.ts';

const guardMethods = ['begin', 'finish', 'release', 'forget', 'claim'];
const storeMethods = ['read', 'write'];

const rungs = {
  elicitation: ['client', 'model', 'fallback'],
  sampling: ['client', 'host', 'model'],
} as const;

/** Checks the options, for JavaScript too. Throws TypeError that names the option and what is expected. */
export function assertHostOptions(options: SagaHostOptions): void {
  assertKnownOptions(options, hostNames, hostGroups);
  const { audience, sagas, auth = {}, guard, answers = {}, telemetry, testing = {} } = options;
  if (typeof audience !== 'string' || audience === '') {
    throw new TypeError("createSagaHost needs an audience, the name of this service: audience: 'deployer'.");
  }
  if (!Array.isArray(sagas)) throw new TypeError('sagas: expected an array of what saga(…) returns.');
  const bad = sagas.findIndex(
    (saga: unknown) => typeof (Object(saga) as { readonly advance?: unknown }).advance !== 'function',
  );
  if (bad !== -1) throw new TypeError(`sagas[${bad}]: expected what saga(…) returns.`);
  if (telemetry !== undefined && typeof telemetry?.turn !== 'function') {
    throw new TypeError('telemetry: expected what openTelemetry() of @mcp-saga/opentelemetry returns.');
  }
  assertAuth(auth);
  assertGuard(guard);
  assertAnswers(answers);
  assertHooks(options);
  assertTasks(options);
  assertCompensators(options);
  assertOneOf('testing.sealing', testing.sealing, ['auto', 'fast', 'portable']);
  assertFunction('testing.sleep', testing.sleep);
  if (testing.clock !== undefined) assertClock('testing.clock', testing.clock);
}

function assertAuth({ principal, authorize, rateLimit, rejectIssuedBefore }: AuthOptions): void {
  if (principal !== undefined && principal !== 'client-only' && typeof principal !== 'function') {
    throw new TypeError(
      "auth.principal: expected (authInfo) => ({ issuer, subject, client }), which names the owner of a saga, or 'client-only'.",
    );
  }
  assertFunction('auth.authorize', authorize);
  assertFunction('auth.rateLimit', rateLimit);
  assertRejectIssuedBefore(rejectIssuedBefore);
}

function assertAnswers({ sampling, model, order = {}, instantRefusals }: AnswerOptions): void {
  assertFunction('answers.sampling', sampling);
  assertOneOf('answers.model', model, ['accept', 'refuse']);
  assertOneOf('answers.instantRefusals.treatAs', instantRefusals?.treatAs, ['refused', 'unsupported']);
  for (const [need, tried] of Object.entries(order) as [keyof typeof rungs, readonly unknown[]][]) {
    if (!Array.isArray(tried))
      throw new TypeError(`answers.order.${need}: expected a list, the first to be tried first.`);
    for (const rung of tried) assertOneOf(`answers.order.${need}`, rung, rungs[need]);
  }
}

/** Without its methods each turn would fail behind its effects, or run unguarded where that is allowed. (T13) */
function assertGuard(guard: GuardOptions | undefined): void {
  if (guard === undefined) return;
  assertOneOf('guard.onDown', guard.onDown, ['closed', 'open']);
  assertStore('guard.store', guard.store, guardMethods, 'Guard');
}

function assertTasks({ tasks, resumableRequests, handles }: SagaHostOptions): void {
  assertOneOf('resumableRequests.bearer', resumableRequests?.bearer, ['accept']);
  const { store, bearer } = tasks ?? {};
  assertOneOf('tasks.bearer', bearer, ['accept']);
  if (handles !== undefined) assertStore('handles.store', handles.store, storeMethods, 'TaskStore');
  if (store !== undefined) assertStore('tasks.store', store, storeMethods, 'TaskStore');
}

function assertStore(name: string, store: unknown, methods: readonly string[], kind: string): void {
  if (hasMethods(store, methods)) return;
  // It may be the function that makes one.
  const hint = typeof store === 'function' ? ` Call it: ${store.name}(…).` : '';
  throw new TypeError(
    `${name}: expected what memory${kind}() returns, for one process, or redis${kind}(client) of @mcp-saga/redis, for a ` +
      `fleet.${hint}`,
  );
}

/** A misspelt hook would tell nobody. What an object of a class of the operator's own has besides is not ours to judge. */
function assertHooks({ hooks }: SagaHostOptions): void {
  if (hooks === undefined) return;
  if (isPlain(hooks)) assertKnown('hooks', hooks, hookNames);
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
function assertRejectIssuedBefore(time: number | undefined): void {
  if (time === undefined || time === 0) return;
  if (typeof time === 'number' && time >= times[0] && time <= times[1]) return;
  throw new RangeError(
    "auth.rejectIssuedBefore: expected milliseconds since the epoch, such as Date.parse('2026-01-31T12:00:00Z').",
  );
}

function assertFunction(name: string, value: unknown): void {
  if (value === undefined || typeof value === 'function') return;
  throw new TypeError(`${name}: expected a function.`);
}

function hasMethods(value: unknown, names: readonly string[]): boolean {
  return names.every((name) => typeof (Object(value) as Record<string, unknown>)[name] === 'function');
}

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function assertOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  throw new TypeError(`${name}: expected ${values.map((one) => `'${one}'`).join(' or ')}.`);
}
