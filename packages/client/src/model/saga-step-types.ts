import type { ContentBlock, FormField, MessageContent } from '@mcp-saga/core/shared';

/** JSON value. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { [key: string]: JsonValue };

/** Tool for the model. */
export interface SamplingTool {
  name: string;
  description?: string;
  inputSchema: { type: 'object'; [keyword: string]: JsonValue };
}

interface ParamsBase {
  _meta?: { [key: string]: unknown };
}

/** Form for the user (MCP `elicitation/create`, form mode). */
export interface FormElicitation extends ParamsBase {
  mode?: 'form';
  message: string;
  requestedSchema: {
    type: 'object';
    properties: { [field: string]: FormField };
    required?: string[];
    [keyword: string]: unknown;
  };
}

/**
 * Page for the user (MCP `elicitation/create`, URL mode). An accept means "agreed to open the
 * page", not "done".
 */
export interface UrlElicitation extends ParamsBase {
  mode: 'url';
  message: string;
  url: string;
  elicitationId?: string;
}

/** Question to the user: a form, or a page with `mode: 'url'`. */
export type ElicitationParams = FormElicitation | UrlElicitation;

/** Answer of the user. */
export interface ElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Content of the form, with `accept` only. */
  readonly content?:
    | { readonly [field: string]: string | number | boolean | readonly string[] }
    | undefined;
}

/** Tool call of the model. */
export interface ToolUseContent {
  type: 'tool_use';
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: { [key: string]: unknown };
}

/** Result of a tool call of the model. */
export interface ToolResultContent {
  type: 'tool_result';
  toolUseId: string;
  content: ContentBlock[];
  structuredContent?: { [key: string]: unknown };
  isError?: boolean;
  _meta?: { [key: string]: unknown };
}

/** Block of a message to or from a model. */
export type SamplingContent = MessageContent | ToolUseContent | ToolResultContent;

/** Message to a model. */
export interface ModelMessage {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
  _meta?: { [key: string]: unknown };
}

/** Question to the client's model (MCP `sampling/createMessage`). */
export interface SamplingParams extends ParamsBase {
  messages: ModelMessage[];
  /** Maximum number of tokens of the model. */
  maxTokens: number;
  systemPrompt?: string;
  modelPreferences?: {
    hints?: { name?: string }[];
    costPriority?: number;
    speedPriority?: number;
    intelligencePriority?: number;
  };
  includeContext?: 'none' | 'thisServer' | 'allServers';
  temperature?: number;
  stopSequences?: string[];
  metadata?: { [key: string]: JsonValue };
  tools?: SamplingTool[];
  toolChoice?: { mode?: 'auto' | 'required' | 'none' };
}

/** Answer of the client's model. */
export interface SamplingResult {
  readonly role: 'user' | 'assistant';
  /** A block, or several. Calls of tools are blocks of the type `tool_use`. */
  readonly content: object | readonly object[];
  readonly model: string;
  readonly stopReason?: string | undefined;
}

/** Parameters of a question for roots (MCP `roots/list`). */
export interface RootsParams extends ParamsBase {
  [key: string]: unknown;
}

/** Folders or other places that the client opens to the server. */
export interface RootsResult {
  readonly roots: readonly { readonly uri: string; readonly name?: string | undefined }[];
}
