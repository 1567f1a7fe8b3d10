/**
 * Required methods of a `Client` of MCP SDK 2.x (`@modelcontextprotocol/client`) or 1.x. Neither is
 * imported.
 */
export interface McpClient {
  request(
    request: { method: string; params?: { [key: string]: unknown } },
    resultSchema: object,
    options?: object,
  ): Promise<unknown>;
  getServerCapabilities(): object | undefined;
}

/** Options for the SDK's `client.request` with each request of a saga. */
export interface RequestOptions {
  /**
   * Maximum time of a request, in milliseconds. A turn of a saga may take longer than the default.
   * @default 60_000, by the SDKs
   */
  readonly timeout?: number;
  /** Maximum time of a request including progress, in milliseconds. */
  readonly maxTotalTimeout?: number;
  /** `true` if progress restarts `timeout`. */
  readonly resetTimeoutOnProgress?: boolean;
  /** Receives progress. Values rise over all turns of a saga. */
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  /**
   * Additional HTTP headers; SDK v2 only. A tool that declares `x-mcp-header` needs its
   * `Mcp-Param-*` headers here.
   */
  readonly headers?: Readonly<Record<string, string>>;
}
