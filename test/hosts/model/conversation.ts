/** One request to a model, in terms that all model APIs share. */
export interface Conversation {
  readonly tools: readonly ModelTool[];
  /** Results of tool calls, oldest first, as the model reads them. */
  readonly results: readonly string[];
  /** All messages as JSON, without system prompts and tools. */
  readonly read: string;
  /** `true` if the host wants server-sent events. */
  readonly isStreamed: boolean;
}

/** A tool in a request to a model. */
export interface ModelTool {
  /** Name of the tool for the model. Hosts add a prefix with the server's name. */
  readonly name: string;
  readonly parameters: {
    readonly properties?: { readonly [name: string]: { readonly type?: unknown } };
  };
  /** Namespace of the tool, in APIs that have namespaces. */
  readonly namespace?: string;
}

/** Reply of the scripted model. */
export type Reply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: ModelTool; readonly args: object };

/** One model API: reads requests and writes replies. */
export interface ModelApi {
  /** `true` if a request belongs to this API. */
  matches(path: string): boolean;
  read(body: unknown, path: string): Conversation;
  /** Complete response body. */
  whole(reply: Reply, model: string): object;
  /** Server-sent events of a streamed response. */
  events(reply: Reply, model: string): readonly ModelEvent[];
}

/** A server-sent event. */
export interface ModelEvent {
  readonly event?: string;
  readonly data: object | '[DONE]';
}

/** Joins the text of a message, which model APIs send as a string or as a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined ? '' : JSON.stringify(content);
  return content
    .map((block: unknown) => {
      const { text, content: inner } = Object(block) as {
        readonly text?: unknown;
        readonly content?: unknown;
      };
      if (typeof text === 'string') return text;
      return inner === undefined ? JSON.stringify(block) : textOf(inner);
    })
    .join('\n');
}
