import type { ContentBlock } from '@mcp-saga/core/shared';

/** Result of a tool (MCP `CallToolResult`). Unknown fields are kept. */
export interface CallToolResult {
  content: ContentBlock[];
  structuredContent?: { [key: string]: unknown };
  /** `true` if the tool failed, with the error in `content`. */
  isError?: boolean;
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}
