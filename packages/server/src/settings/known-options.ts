import { didYouMean, nearestName, optionError, type NamesOf } from '@mcp-saga/core/shared';
import type {
  AnswererOptions,
  AuthOptions,
  KeySource,
  AnonymousOptions,
  SagaHostOptions,
  StartOptions,
  StepDefaults,
  TestingOptions,
} from '../model/host-options.ts';
import type { HostHooks } from '../model/hooks.ts';
import type { Principal, SagaCaller } from '../model/caller.ts';
import type {
  CancelHostRequest,
  DeliveryRequest,
  HostRequest,
  StartHostRequest,
} from '../model/request-types.ts';
import { defaultHostLimits } from './default-limits.ts';

export const hostNames: NamesOf<SagaHostOptions> = {
  sagas: true,
  keys: true,
  name: true,
  audience: true,
  auth: true,
  services: true,
  store: true,
  url: true,
  webhooks: true,
  page: true,
  queue: true,
  answerers: true,
  compensators: true,
  anonymous: true,
  starts: true,
  steps: true,
  shortTokens: true,
  limits: true,
  hooks: true,
  telemetry: true,
  studio: true,
  testing: true,
};

/** Names of the options for callers. */
export const authNames: NamesOf<AuthOptions> = {
  principal: true,
  authorize: true,
  rateLimit: true,
  mayAnswer: true,
  rejectIssuedBefore: true,
};

export const hookNames: NamesOf<HostHooks> = {
  onReject: true,
  onIgnoredAnswer: true,
  onStep: true,
  onSettled: true,
  onTurn: true,
  onError: true,
  onWarning: true,
};

/** Names of the options of a source of keys. */
export const sourceNames: NamesOf<KeySource> = {
  load: true,
  tenantOf: true,
  links: true,
  refresh: true,
};

const answererNames: NamesOf<AnswererOptions> = {
  sampling: true,
  model: true,
  instantRefusals: true,
};
const anonymousNames: NamesOf<AnonymousOptions> = {
  calls: true,
  tasks: true,
  resumableRequests: true,
  starts: true,
};
const startNames: NamesOf<StartOptions> = { unkeyed: true, key: true };
const stepNames: NamesOf<StepDefaults> = { retry: true };
const testingNames: NamesOf<TestingOptions> = {
  clock: true,
  sleep: true,
  environment: true,
  sealing: true,
};

/** Names of the options of each method of a host. */
export const requestNames: {
  readonly start: NamesOf<StartHostRequest>;
  readonly resume: NamesOf<HostRequest>;
  readonly cancel: NamesOf<CancelHostRequest>;
  readonly deliver: NamesOf<DeliveryRequest>;
  readonly inspect: NamesOf<Pick<HostRequest, 'caller'>>;
  readonly answer: NamesOf<Pick<HostRequest, 'caller' | 'env'>>;
} = {
  start: { caller: true, env: true, signal: true, idempotencyKey: true },
  resume: { caller: true, env: true, signal: true },
  cancel: { caller: true, env: true, signal: true, reason: true },
  deliver: { env: true, signal: true },
  inspect: { caller: true },
  answer: { caller: true, env: true },
};

const callerNames: NamesOf<SagaCaller> = {
  principal: true,
  user: true,
  capabilities: true,
  progress: true,
  log: true,
  traceContext: true,
};

const principalNames: NamesOf<Principal> = { issuer: true, subject: true, client: true };

/** Names of the options in each group. */
export type Groups = { readonly [group: string]: { readonly [name: string]: true } };

/**
 * Groups of the options of a host. Hooks are checked elsewhere, since they may be an instance of
 * any class.
 */
export const hostGroups: Groups = {
  auth: authNames,
  answerers: answererNames,
  anonymous: anonymousNames,
  starts: startNames,
  steps: stepNames,
  limits: Object.fromEntries(Object.keys(defaultHostLimits).map((name) => [name, true])),
  testing: testingNames,
};

/**
 * Checks the names of options and of their groups. Throws TypeError with the nearest name, and all
 * names.
 */
export function assertKnownOptions(options: object, names: object, groups: Groups): void {
  const leaves = Object.entries(groups).flatMap(([group, inner]) =>
    Object.keys(inner).map((name) => [name, `${group}.${name}`] as const),
  );
  assertKnown('', options, names, new Map(leaves));
  for (const [group, inner] of Object.entries(groups))
    assertKnown(group, Reflect.get(options, group), inner);
}

/**
 * Checks the names in one object at the path `group`. `elsewhere`: paths of options in other
 * groups. Throws TypeError.
 */
export function assertKnown(
  group: string,
  given: object | undefined,
  names: object,
  elsewhere?: ReadonlyMap<string, string>,
): void {
  if (given === undefined) return;
  const known = Object.keys(names);
  const list = known.join(', ');
  if (typeof given !== 'object' || given === null)
    throw optionError(`${group || 'options'}: expected an object of ${list}.`);
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const path = group && `${group}.`;
  // Other servers pass such a value to their handlers, with the host or with the caller. In a group
  // of options, the word means something else.
  if (other === 'context' && (group === '' || group === 'caller'))
    throw optionError(
      `There is no option '${path}context'. Pass what belongs to the process as \`services\` of the host, and return what belongs to ` +
        'a request from `auth.authenticate`: steps receive both, as `services` and `user`.',
      { code: 'unknown_option' },
    );
  if (group === 'auth' && other === 'authenticate')
    throw optionError(
      'createSagaHost has no `auth.authenticate`. Pass the user of a call as `caller: { user }` to the methods of the host.',
      { code: 'unknown_option' },
    );
  // A hint must not lead to a consent: `tasks` is no option, and `anonymous.tasks` lets anyone in.
  const safe = [...(elsewhere?.keys() ?? [])].filter(
    (name) => !Object.hasOwn(anonymousNames, name),
  );
  const nearest = nearestName(other, [...known, ...safe]);
  const meant =
    nearest === undefined || known.includes(nearest)
      ? nearest && path + nearest
      : elsewhere?.get(nearest);
  throw optionError(`There is no option '${path}${other}'.${didYouMean(meant)} Options: ${list}.`, {
    code: 'unknown_option',
  });
}

/**
 * Checks the names of the options of a method of a host, and of its caller. A misspelled caller
 * would act for nobody, and anyone with the token could continue the saga. Throws TypeError.
 */
export function assertKnownRequest(
  request: Pick<HostRequest, 'caller'>,
  names: { readonly [name: string]: true },
): void {
  const ofCaller = Object.keys(callerNames).map((name) => [name, `caller.${name}`] as const);
  assertKnown('', request, names, 'caller' in names ? new Map(ofCaller) : undefined);
  const { caller } = request;
  if (caller === undefined || caller === 'anonymous') return;
  if (typeof caller === 'string')
    throw optionError("caller: expected 'anonymous', or an object with a principal or a user.");
  assertKnown('caller', caller, callerNames);
  if (caller.principal !== 'anonymous') assertKnownPrincipal('caller.principal', caller.principal);
}

/** Checks the names of a principal: without its issuer, it would be another one. */
export function assertKnownPrincipal(path: string, principal: Principal | undefined): void {
  assertKnown(path, principal, principalNames);
}
