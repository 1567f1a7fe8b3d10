/** The parts of a `Client` that sagas need, of MCP SDK 2.x (`@modelcontextprotocol/client`) or 1.x. Neither is imported. */
export interface McpClient {
  request(
    request: { method: string; params?: { [key: string]: unknown } },
    resultSchema: object,
    options?: object,
  ): Promise<unknown>;
  getServerCapabilities(): object | undefined;
}

/** Passed to the SDK's `client.request` with each request of a saga. */
export interface RequestOptions {
  /** How long one request may take, in milliseconds; the SDKs' default is 60,000. A turn of a saga may take longer. */
  readonly timeout?: number;
  /** How long one request may take with all its progress, in milliseconds. */
  readonly maxTotalTimeout?: number;
  /** Whether progress starts `timeout` anew. */
  readonly resetTimeoutOnProgress?: boolean;
  /** Asks the server for progress; its values rise over all turns of a saga. */
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  /** Further HTTP headers; SDK v2 only. A tool that declares `x-mcp-header` needs its `Mcp-Param-*` headers here. */
  readonly headers?: Readonly<Record<string, string>>;
}
