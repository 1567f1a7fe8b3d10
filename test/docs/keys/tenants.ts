import type { KeySource } from '@mcp-saga/server';
import { encryptedKeys, type Decrypt } from './envelope.ts';

// #region tenants
/** Keys of each tenant, encrypted by a key of the tenant in the KMS. */
export function keysOfTenants(folder: string, decryptFor: (tenant: string) => Decrypt): KeySource {
  return {
    // The authentication of the server sets `extra`. A client cannot choose its tenant.
    tenantOf: ({ user }) => (user as { readonly extra: { readonly tenant: string } }).extra.tenant,
    load: async (tenant) => {
      if (!/^[a-z][a-z\d-]*$/.test(tenant)) throw new Error('Not a tenant.');
      return await encryptedKeys(`${folder}/${tenant}.json`, decryptFor(tenant)).load(tenant);
    },
    refresh: '10m',
  };
}
// #endregion tenants
