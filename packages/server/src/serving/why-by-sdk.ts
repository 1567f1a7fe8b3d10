import type { SagaTelemetry } from '../model/telemetry.ts';
import type { ServedRequest } from './serve-directly.ts';
import { directRevision, isDirectMethod, toDirectRequest } from './direct-request.ts';

type SdkReason = Parameters<NonNullable<SagaTelemetry['servedBySdk']>>[0];

/**
 * Finds the reason why a request was left to the SDK, for the telemetry of an operator.
 * @param setting - the option of the server that leaves all requests to the SDK, if any
 */
export function whyBySdk(
  { request, parsedBody }: ServedRequest,
  setting: 'extend' | 'stream' | undefined,
): SdkReason {
  if (setting !== undefined) return setting;
  if (request.headers.get('mcp-protocol-version') !== directRevision) return 'version';
  if (parsedBody === undefined) return 'body';
  const { method } = Object(parsedBody) as { readonly method?: unknown };
  if (!isDirectMethod(method)) return 'method';
  return toDirectRequest(request, parsedBody) === undefined ? 'form' : 'tool';
}
