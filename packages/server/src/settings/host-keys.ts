import { present } from '@mcp-saga/core/program';
import { createKeyRing, createSealer, SealError, TokenRefused } from '@mcp-saga/seal';
import type { KeyRing, KeyRingOptions, KeysOption, Sealer, SealerOptions } from '@mcp-saga/seal';
import type { SagaCaller } from '../model/caller.ts';
import type { KeySource, SagaHostOptions } from '../model/host-options.ts';
import { SagaHostError } from '../wire/errors.ts';
import { sleep } from './clock.ts';
import { environmentOf } from './host-environment.ts';
import { sourceNames } from './known-options.ts';
import { LoadedKeys, type WaitUntil } from './loaded-keys.ts';
import { wholeDuration } from './default-limits.ts';

/** Sealers of a host, or of a request whose keys come from a source. */
export interface Keys {
  readonly sealer: Sealer;
  /** Seals records for the guard, which contain tokens and results, and never reach a client. */
  readonly responses: Sealer;
  /** Source that chooses the keys of each request. Undefined: these are the keys. */
  readonly source?: LoadedSource;
  /** Tenant of the keys. Undefined: the keys are the same for all callers. */
  readonly tenant?: string;
  /** Seals the name of the tenant in links. Undefined without tenants. */
  readonly links?: Sealer;
}

/**
 * Source of keys, with the loaded rings. Both methods wait for the first load of a ring, and throw
 * `keys_down` if it fails.
 */
export interface LoadedSource {
  /** Returns the keys for a caller. Throws `tenant_missing`. */
  ofCaller(caller: SagaCaller, waitUntil?: WaitUntil): Promise<Keys>;
  /** Keys by the name of a tenant. Undefined: the source has no tenants. */
  readonly tenants: TenantKeys | undefined;
}

/** Keys by the name of a tenant. */
export interface TenantKeys {
  /** Returns the tenant of a caller. Authors of JavaScript may return anything. */
  readonly tenantOf: NonNullable<KeySource['tenantOf']>;
  /** Returns the keys of a tenant that the operator or a sealed link named. */
  of(tenant: string, waitUntil?: WaitUntil): Promise<Keys>;
  /**
   * Seals the name of the tenant in links: nobody can make up a name. Undefined: the host makes no
   * links.
   */
  readonly links: Sealer | undefined;
}

/** Parts of a host for its keys. */
export interface KeysParts extends Required<
  Pick<SealerOptions, 'audience' | 'limits' | 'clock' | 'implementation'>
> {
  readonly ring: KeyRingOptions;
  readonly onError: (error: unknown) => void;
}

type Sealers = Pick<Keys, 'sealer' | 'responses'>;

const responseLimits = { maxTokenBytes: 64 * 1024 * 1024, maxInflatedBytes: 64 * 1024 * 1024 };

const defaultRefreshMs = 5 * 60_000;

/** Tenants with loaded keys. The least recently used keys are dropped. */
export const maxTenants = 10_000;

/**
 * Makes the sealers of a host, by default of `SAGA_KEYS`. Throws SealError `keys` with the position
 * of an invalid key.
 */
export function toKeys(options: Pick<SagaHostOptions, 'keys'>, parts: KeysParts): Keys {
  const variable = environmentOf('SAGA_KEYS');
  const keys = 'keys' in options ? options.keys : variable;
  if (typeof keys === 'function') return loadedKeys({ load: keys }, parts);
  if (isKeySource(keys)) return loadedKeys(keys, parts);
  try {
    return sealersOf(createKeyRing(keys, parts.ring), parts);
  } catch (error) {
    // Also if passed as keys: process.env.SAGA_KEYS.
    if (!(error instanceof SealError) || keys === undefined || keys !== variable) throw error;
    throw new SealError(error.code, `SAGA_KEYS: ${error.message}`, { cause: error });
  }
}

/**
 * `true` for a source of keys, even with a mistake: a list of keys and a JWK have none of its
 * members.
 */
export function isKeySource(keys: unknown): keys is KeySource {
  return (
    typeof keys === 'object' &&
    keys !== null &&
    Object.keys(sourceNames).some((name) => name in keys)
  );
}

function sealersOf(ring: KeyRing, { audience, limits, clock, implementation }: KeysParts): Sealers {
  const options = { ring, audience, clock, implementation };
  return {
    sealer: createSealer({ ...options, limits }),
    responses: createSealer({ ...options, limits: responseLimits }),
  };
}

function loadedKeys(source: KeySource, parts: KeysParts): Keys {
  const { refresh = defaultRefreshMs } = source;
  const refreshMs = wholeDuration('keys.refresh', refresh);
  const { clock, onError } = parts;
  // Checks the audience and the limits at the start, and makes saga IDs.
  const { sealer } = sealersOf(createKeyRing('ephemeral'), parts);
  const newSagaId = (): string => sealer.newSagaId();
  const loaderOf = (tenant?: string): LoadedKeys<Sealers> => {
    // The key schedule contains the audience: tenants with the same keys cannot open the tokens of
    // each other.
    const audience =
      tenant === undefined ? parts.audience : JSON.stringify([parts.audience, tenant]);
    return new LoadedKeys({
      load: async () =>
        sealersOf(ringOf(await source.load(tenant ?? ''), parts.ring), { ...parts, audience }),
      refreshMs,
      clock,
      sleep,
      onError,
    });
  };
  const following = (loaded: LoadedKeys<Sealers>): Sealers => ({
    sealer: followingSealer(newSagaId, loaded, (sealers) => sealers.sealer),
    responses: followingSealer(newSagaId, loaded, (sealers) => sealers.responses),
  });
  const { tenantOf } = source;
  if (tenantOf === undefined) {
    const loaded = loaderOf();
    const keys = following(loaded);
    const ofCaller: LoadedSource['ofCaller'] = async (_, waitUntil) => {
      await loaded.get(waitUntil);
      return keys;
    };
    return { ...keys, source: { ofCaller, tenants: undefined } };
  }
  const links = linkSealer(source, parts);
  const known = new Tenants();
  const made = (tenant: string): Tenant => {
    const loaded = loaderOf(tenant);
    return { loaded, keys: { ...following(loaded), tenant, ...present({ links }) } };
  };
  const of: TenantKeys['of'] = async (tenant, waitUntil) => {
    if (!isTenant(tenant))
      throw tenantMissing('`keys.tenantOf` returned no tenant of 1 to 256 characters.');
    const { loaded, keys } = known.use(tenant, made);
    await loaded.get(waitUntil);
    return keys;
  };
  const ofCaller: LoadedSource['ofCaller'] = async (caller, waitUntil) =>
    await of(await tenantOf(caller), waitUntil);
  const none: Sealer = {
    newSagaId,
    deriveSecret: refuseNoTenant,
    seal: refuseNoTenant,
    open: refuseNoTenant,
  };
  return { sealer: none, responses: none, source: { ofCaller, tenants: { tenantOf, of, links } } };
}

/**
 * Makes the sealer for the names of tenants in links. Its audience is that of no tenant. Throws
 * SealError `keys`.
 */
function linkSealer({ links }: KeySource, parts: KeysParts): Sealer | undefined {
  if (links === undefined) return undefined;
  const audience = JSON.stringify([parts.audience, '', 'links']);
  try {
    return sealersOf(createKeyRing(links, parts.ring), { ...parts, audience }).sealer;
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    throw new SealError(error.code, `keys.links: ${error.message}`, { cause: error });
  }
}

interface Tenant {
  readonly loaded: LoadedKeys<Sealers>;
  readonly keys: Keys;
}

/** Tenants by name, up to a number. The last entry is the most recently used. */
export class Tenants extends Map<string, Tenant> {
  /** Returns a tenant, and makes an unknown one. */
  use(name: string, make: (name: string) => Tenant): Tenant {
    const tenant = this.get(name) ?? make(name);
    this.delete(name);
    this.set(name, tenant);
    const [oldest] = this.keys();
    if (this.size > maxTenants && oldest !== undefined) this.delete(oldest);
    return tenant;
  }
}

/** Makes the ring of loaded keys. A random key for missing keys would change with each load. */
function ringOf(keys: KeysOption, options: KeyRingOptions): KeyRing {
  if (keys === undefined || keys === 'ephemeral') {
    throw new SealError(
      'keys',
      "`load` returned no keys. Return keys, or set keys: 'ephemeral' without a function.",
    );
  }
  return createKeyRing(keys, options);
}

/**
 * Seals and opens with the newest keys, and looks for newer keys if the key of a token is unknown.
 */
function followingSealer(
  newSagaId: Sealer['newSagaId'],
  loaded: LoadedKeys<Sealers>,
  choose: (sealers: Sealers) => Sealer,
): Sealer {
  const open: Sealer['open'] = async (token, expect) => {
    const known = await loaded.newest();
    try {
      return await choose(known).open(token, expect);
    } catch (error) {
      if (!(error instanceof TokenRefused) || error.reason !== 'unknown_key') throw error;
      const newer = await loaded.newerThan(known);
      if (newer === undefined) throw error;
      return await choose(newer).open(token, expect);
    }
  };
  return {
    newSagaId,
    deriveSecret: async (name) => await choose(await loaded.newest()).deriveSecret(name),
    seal: async (...sealed) => await choose(await loaded.newest()).seal(...sealed),
    open,
  };
}

/** Sealer of a host with tenants, before the tenant of a request is known. */
function refuseNoTenant(): never {
  throw tenantMissing('The tenant of a request was not chosen.');
}

/**
 * `true` for a name of 1 to 256 characters. JavaScript authors may return anything, and a lone
 * surrogate has no UTF-8.
 */
export function isTenant(tenant: unknown): tenant is string {
  return (
    typeof tenant === 'string' && tenant !== '' && tenant.length <= 256 && !/\p{Cs}/u.test(tenant)
  );
}

function tenantMissing(message: string): SagaHostError {
  return new SagaHostError('tenant_missing', message, { public: false });
}
