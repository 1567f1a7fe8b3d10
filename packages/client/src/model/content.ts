/** Hints for showing or ranking a content block; see the MCP specification, `Annotations`. */
export interface Annotations {
  audience?: ('user' | 'assistant')[];
  priority?: number;
  lastModified?: string;
}

interface ContentBase {
  annotations?: Annotations;
  _meta?: { [key: string]: unknown };
}

/** Text. */
export interface TextBlock extends ContentBase {
  type: 'text';
  text: string;
}

/** An image, base64 in `data`. */
export interface ImageBlock extends ContentBase {
  type: 'image';
  data: string;
  mimeType: string;
}

/** Sound, base64 in `data`. */
export interface AudioBlock extends ContentBase {
  type: 'audio';
  data: string;
  mimeType: string;
}

/** A link to a resource that the server can read. */
export interface ResourceLink extends ContentBase {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}

/** A resource inlined into the answer. */
export interface EmbeddedResource extends ContentBase {
  type: 'resource';
  resource:
    | { uri: string; mimeType?: string; text: string; _meta?: { [key: string]: unknown } }
    | { uri: string; mimeType?: string; blob: string; _meta?: { [key: string]: unknown } };
}

/** One block of what a tool answers. */
export type ToolContent = TextBlock | ImageBlock | AudioBlock | ResourceLink | EmbeddedResource;

/**
 * What a tool answers in the end, as `tools/call` would have answered it (MCP `CallToolResult`). Fields that this
 * package does not know are kept.
 */
export interface CallToolResult {
  content: ToolContent[];
  structuredContent?: { [key: string]: unknown };
  /** The tool ran and failed: `content` says how. */
  isError?: boolean;
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}
