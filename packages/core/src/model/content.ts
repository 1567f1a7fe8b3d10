/**
 * Content of tool results and of messages to a model, as MCP has it, for authors of sagas and for
 * clients. As in the MCP SDKs, a field may be undefined, and lists are not readonly: a saga can
 * return a block that an SDK parsed, and a client can pass a block to an SDK.
 */
import type { Json } from '../values/json.ts';

/** Hints for showing or ranking a content block; see the MCP specification, `Annotations`. */
export interface Annotations {
  readonly audience?: ('user' | 'assistant')[] | undefined;
  readonly priority?: number | undefined;
  readonly lastModified?: string | undefined;
}

interface ContentBase {
  readonly annotations?: Annotations | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
}

/** Text. */
export interface TextBlock extends ContentBase {
  readonly type: 'text';
  readonly text: string;
}

/** Image, with base64 in `data`. */
export interface ImageBlock extends ContentBase {
  readonly type: 'image';
  readonly data: string;
  readonly mimeType: string;
}

/** Sound, with base64 in `data`. */
export interface AudioBlock extends ContentBase {
  readonly type: 'audio';
  readonly data: string;
  readonly mimeType: string;
}

/** Link to a resource of the server. */
export interface ResourceLink extends ContentBase {
  readonly type: 'resource_link';
  readonly uri: string;
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
}

/** Contents of a resource: a string, or base64 in `blob`. */
type ResourceContents = {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly _meta?: { readonly [key: string]: unknown } | undefined;
} & ({ readonly text: string } | { readonly blob: string });

/** Resource in the answer. */
export interface EmbeddedResource extends ContentBase {
  readonly type: 'resource';
  readonly resource: ResourceContents;
}

/** Content of a message to or from a model: text, an image, or sound. */
export type MessageContent = TextBlock | ImageBlock | AudioBlock;

/** Call of a tool by a model, in a message of the assistant. */
export interface ToolUseBlock {
  readonly type: 'tool_use';
  /** ID that the model gave to this call. The result names it as `toolUseId`. */
  readonly id: string;
  /** Name of one of the offered tools, as the model wrote it. */
  readonly name: string;
  /** Arguments as the model wrote them. Nothing has checked them against the schema of the tool. */
  readonly input: { readonly [name: string]: Json };
  /** Hints of the client. Pass them back with the block, for caches. */
  readonly _meta?: { readonly [key: string]: Json };
}

/** Result of a {@link ToolUseBlock}, in the next message of the user. */
export interface ToolResultBlock {
  readonly type: 'tool_result';
  /** `id` of the call. */
  readonly toolUseId: string;
  readonly content: readonly ContentBlock[];
  /** The result as data, if the tool has such a result. */
  readonly structuredContent?: { readonly [name: string]: Json };
  /** `true` if the tool failed, and `content` says why. @default false */
  readonly isError?: boolean;
  readonly _meta?: { readonly [key: string]: Json };
}

/** Block of a message to or from a model that may call tools. */
export type SamplingBlock = MessageContent | ToolUseBlock | ToolResultBlock;

/** Block of content in a tool's result, as MCP has it. */
export type ContentBlock = MessageContent | ResourceLink | EmbeddedResource;
