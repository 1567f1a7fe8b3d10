import type { FormField } from './form-field.ts';
import type { AudioBlock, ToolContent, ImageBlock, TextBlock } from './content.ts';

/** A value that JSON can hold. */
export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A tool that the model may use. */
export interface SamplingTool {
  name: string;
  description?: string;
  inputSchema: { type: 'object'; [keyword: string]: JsonValue };
}

interface ParamsBase {
  _meta?: { [key: string]: unknown };
}

/** A form to show to the user (MCP `elicitation/create`, form mode). */
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

/** A page to send the user to (MCP `elicitation/create`, URL mode). An accept means "agreed to open it", not "done". */
export interface UrlElicitation extends ParamsBase {
  mode: 'url';
  message: string;
  url: string;
  elicitationId?: string;
}

/** What the user is asked: a form, or with `mode: 'url'` a page to visit. */
export type ElicitationParams = FormElicitation | UrlElicitation;

/** What the user said. */
export interface ElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The filled form; with `accept` only. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] } | undefined;
}

/** The model wants to use a tool. */
export interface ToolUseContent {
  type: 'tool_use';
  id: string;
  name: string;
  input: { [key: string]: unknown };
  _meta?: { [key: string]: unknown };
}

/** What a tool that the model used has answered. */
export interface ToolResultContent {
  type: 'tool_result';
  toolUseId: string;
  content: ToolContent[];
  structuredContent?: { [key: string]: unknown };
  isError?: boolean;
  _meta?: { [key: string]: unknown };
}

/** One block of a message to or from a model. */
export type SamplingContent = TextBlock | ImageBlock | AudioBlock | ToolUseContent | ToolResultContent;

/** One message to a model. */
export interface ModelMessage {
  role: 'user' | 'assistant';
  content: SamplingContent | SamplingContent[];
  _meta?: { [key: string]: unknown };
}

/** What the client's model is asked (MCP `sampling/createMessage`). */
export interface SamplingParams extends ParamsBase {
  messages: ModelMessage[];
  /** In the model's tokens. */
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

/** What the client's model said. */
export interface SamplingResult {
  readonly role: 'user' | 'assistant';
  readonly content: object;
  readonly model: string;
  readonly stopReason?: string | undefined;
}

/** The client's roots are asked without parameters (MCP `roots/list`). */
export interface RootsParams extends ParamsBase {
  [key: string]: unknown;
}

/** The folders or places that the client lets the server work in. */
export interface RootsResult {
  readonly roots: readonly { readonly uri: string; readonly name?: string | undefined }[];
}
