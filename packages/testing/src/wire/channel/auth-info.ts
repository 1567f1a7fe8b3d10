/** Who sends a request, as the transport's authentication finds it. */
export interface AuthInfo {
  readonly token: string;
  readonly clientId: string;
  readonly scopes: string[];
  readonly extra?: Record<string, unknown>;
}
