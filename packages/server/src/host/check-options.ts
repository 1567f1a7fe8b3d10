import type { SagaHostOptions } from './host-options.ts';

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
  compensators: true,
  tasks: true,
  tokenTtl: true,
  maxLifetime: true,
  turnBudget: true,
  maxHold: true,
  rejectIssuedBefore: true,
  limits: true,
  hooks: true,
  telemetry: true,
  clock: true,
  sleep: true,
  environment: true,
  sealing: true,
};

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
  const other = Object.keys(options).find((name) => !Object.hasOwn(known, name));
  if (other !== undefined) {
    throw new TypeError(`There is no host option '${other}'. There are: ${Object.keys(known).join(', ')}.`);
  }
  const { audience, sagas, modelAnswers, whenGuardIsDown, ladder = {}, telemetry } = options;
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
  if (telemetry !== undefined && typeof telemetry?.turn !== 'function') {
    throw new TypeError('telemetry: expected what openTelemetry() of @mcp-saga/opentelemetry returns.');
  }
  for (const [need, tried] of Object.entries(ladder) as [keyof typeof rungs, readonly unknown[]][]) {
    if (!Object.hasOwn(rungs, need)) throw new TypeError(`ladder.${need}: there is no such ladder.`);
    for (const rung of tried) assertOneOf(`ladder.${need}`, rung, rungs[need]);
  }
}

function assertOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  throw new TypeError(`${name}: expected ${values.map((one) => `'${one}'`).join(' or ')}.`);
}
