import type { Json } from '../values/json.ts';

/** A block of text in a message. */
export interface TextContent {
  readonly type: 'text';
  readonly text: string;
}

/** An image or a piece of audio in a message, base64-encoded. */
export interface MediaContent {
  readonly type: 'image' | 'audio';
  readonly data: string;
  readonly mimeType: string;
}

/** The content of a sampling message. */
export type MessageContent = TextContent | MediaContent;

/** One message of a sampling request. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: MessageContent;
}

/** What `sample` asks of the client's model: the parameters of MCP's `sampling/createMessage`. */
export interface SampleParams {
  readonly messages: readonly SamplingMessage[];
  /** The most tokens the model may produce. */
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: { readonly [key: string]: Json };
  readonly metadata?: { readonly [key: string]: Json };
}

/** What the client's model answered: MCP's `CreateMessageResult`. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  readonly content: MessageContent;
  readonly model: string;
  readonly stopReason?: string;
}

/** A root that the client offers: MCP's `Root`. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** A step that the client must do, as the program asks for it; dialects put it on the wire. */
export interface ClientStep {
  readonly type: 'elicitation' | 'sampling' | 'roots';
  /** The path of the step: the author's id, verbatim where it stands in no scope. */
  readonly stepId: string;
  /** The parameters of the MCP request. */
  readonly params: { readonly [key: string]: Json };
  /** Why the answer that came was not accepted, when the step is asked again. Names fields, never values. */
  readonly reason?: string;
}

/** Who gave an answer: sealed beside it. (T14) */
export type Provenance = 'client' | 'model' | 'server' | 'verified-url';

/** An answer to a client step, as a dialect decoded it. `result` and `error` come unchecked. */
export type ClientAnswer =
  | { readonly result: Json; readonly provenance: Provenance }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
      readonly provenance: Provenance;
    };
