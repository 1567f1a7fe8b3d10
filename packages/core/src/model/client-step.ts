import type { MessageContent } from './content.ts';
import type { Json } from '../values/json.ts';

/** One message of a sampling request. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly content: MessageContent;
}

/** Request of `sample` to the client's model: the parameters of MCP's `sampling/createMessage`. */
export interface SampleParams {
  readonly messages: readonly SamplingMessage[];
  /** Maximum number of tokens that the model may produce. */
  readonly maxTokens: number;
  readonly systemPrompt?: string;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly modelPreferences?: { readonly [key: string]: Json };
  readonly metadata?: { readonly [key: string]: Json };
}

/** Answer of the client's model: MCP's `CreateMessageResult`. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  /**
   * The answer as one block. If the model sent several blocks, this is their text in one block; or,
   * without text, the first image or sound.
   */
  readonly content: MessageContent;
  /**
   * All blocks as the client sent them, if it sent a list, or a call or result of a tool. Absent if
   * `content` is the whole answer.
   */
  readonly blocks?: readonly (
    | MessageContent
    | { readonly type: 'tool_use' | 'tool_result'; readonly [field: string]: Json }
  )[];
  readonly model: string;
  readonly stopReason?: string;
}

/** A root that the client offers: MCP's `Root`. */
export interface Root {
  readonly uri: string;
  readonly name?: string;
}

/** A step for the client. Dialects convert the step to a request. */
export interface ClientStep {
  readonly type: 'elicitation' | 'sampling' | 'roots';
  /** Path of the step: outside of scopes, the author's ID verbatim. */
  readonly stepId: string;
  /** The parameters of the MCP request. */
  readonly params: { readonly [key: string]: Json };
  /** Reason for asking again: why the last answer was rejected. Names fields, never values. */
  readonly reason?: string;
}

/** Origin of an answer, sealed with the answer. */
export type Provenance = 'client' | 'model' | 'server' | 'verified-url';

/** A decoded answer to a client step. `result` and `error` are unchecked. */
export type ClientAnswer =
  | { readonly result: Json; readonly provenance: Provenance }
  | {
      readonly error: { readonly code: number; readonly message: string; readonly data?: Json };
      readonly provenance: Provenance;
    };
