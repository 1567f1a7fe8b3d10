import type { MessageContent, SamplingBlock } from './content.ts';
import type { Json } from '../values/json.ts';

/** One message of a sampling request. */
export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  /**
   * A block, or several. A message with the results of tools has no other blocks, and follows the
   * message with their calls.
   */
  readonly content: SamplingBlock | readonly SamplingBlock[];
}

/** Tool that a model may call during sampling. The saga runs it, not the client. */
export interface SampleTool {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: Json };
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
  /**
   * Tools that the model may call. A client needs the capability `sampling.tools`; otherwise the
   * next source in the order answers, such as the model of the host. Default: none.
   */
  readonly tools?: readonly SampleTool[];
  /** Says if the model may, must, or must not call a tool. @default { mode: 'auto' } */
  readonly toolChoice?: { readonly mode?: 'auto' | 'required' | 'none' };
}

/** Answer of a model in the form of MCP's `CreateMessageResult`, as a host or a client gives it. */
export interface SampleAnswer {
  readonly role: 'user' | 'assistant';
  readonly content: SamplingBlock | readonly SamplingBlock[];
  /** Name of the model. */
  readonly model: string;
  /** `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or a reason of the provider. */
  readonly stopReason?: string;
}

/** Answer of the model, as the body receives it. */
export interface SampleResult {
  readonly role: 'user' | 'assistant';
  /**
   * The answer as one block. If the model sent several blocks, this is their text in one block; or,
   * without text, the first image or sound.
   */
  readonly content: MessageContent;
  /**
   * All blocks as they came, if they were a list, or a call or result of a tool. Absent if
   * `content` is the whole answer. Some clients leave out the `content` of a `tool_result`.
   */
  readonly blocks?: readonly SamplingBlock[];
  readonly model: string;
  /** `toolUse` if the model waits for the results of its calls in `blocks`. */
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
