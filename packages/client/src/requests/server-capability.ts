import type { McpClient } from '../model/mcp-client.ts';
import { isRecord } from '../runtime/json.ts';
import { SAGA_EXTENSION, type SagaMethod } from '../model/wire.ts';

/**
 * Whether the server may have a saga method, by what it declared when the client connected. `false` is certain: it
 * declares extensions, and not this one or not this method. Where it declares no extensions at all nothing is known
 * (clients of SDK v1 before 1.29 strip them), so the answer is `true` and the server itself has to say no.
 */
export function mayOffer(client: McpClient, method: SagaMethod): boolean {
  const capabilities = client.getServerCapabilities();
  if (!isRecord(capabilities) || !isRecord(capabilities['extensions'])) return true;
  const offer = capabilities['extensions'][SAGA_EXTENSION];
  if (!isRecord(offer)) return false;
  return !Array.isArray(offer['methods']) || offer['methods'].includes(method);
}
