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

/** Image, with base64 in `data`. */
export interface ImageBlock extends ContentBase {
  type: 'image';
  data: string;
  mimeType: string;
}

/** Sound, with base64 in `data`. */
export interface AudioBlock extends ContentBase {
  type: 'audio';
  data: string;
  mimeType: string;
}

/** Link to a resource of the server. */
export interface ResourceLink extends ContentBase {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
}

/** Resource in the answer. */
export interface EmbeddedResource extends ContentBase {
  type: 'resource';
  resource:
    | { uri: string; mimeType?: string; text: string; _meta?: { [key: string]: unknown } }
    | { uri: string; mimeType?: string; blob: string; _meta?: { [key: string]: unknown } };
}

/** Block of a tool result. */
export type ToolContent = TextBlock | ImageBlock | AudioBlock | ResourceLink | EmbeddedResource;

/** Result of a tool (MCP `CallToolResult`). Unknown fields are kept. */
export interface CallToolResult {
  content: ToolContent[];
  structuredContent?: { [key: string]: unknown };
  /** `true` if the tool failed, with the error in `content`. */
  isError?: boolean;
  _meta?: { [key: string]: unknown };
  [key: string]: unknown;
}
