import type { McpClient } from '../model/mcp-client.ts';
import { isRecord } from '../runtime/json.ts';
import { SAGA_EXTENSION, type SagaMethod } from '../model/wire.ts';

/**
 * `false` if the server declares extensions without this saga method. Without any (SDK v1 before 1.29 strips them), the
 * server itself must refuse.
 */
export function mayOffer(client: McpClient, method: SagaMethod): boolean {
  const capabilities = client.getServerCapabilities();
  if (!isRecord(capabilities) || !isRecord(capabilities['extensions'])) return true;
  const offer = capabilities['extensions'][SAGA_EXTENSION];
  if (!isRecord(offer)) return false;
  return !Array.isArray(offer['methods']) || offer['methods'].includes(method);
}
