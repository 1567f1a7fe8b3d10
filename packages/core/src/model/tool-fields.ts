import type { Json } from '../values/json.ts';

/** An icon, as MCP has it. */
export interface Icon {
  /** URL of the image: `https:` or `data:`. */
  readonly src: string;
  readonly mimeType?: string;
  /** Sizes such as `48x48`, or `any` for a scalable image. */
  readonly sizes?: readonly string[];
  /** Background of the icon. */
  readonly theme?: 'light' | 'dark';
}

/** Listed fields of a tool without influence on its calls. */
export interface ToolFields {
  /** Hints about the tool for clients: MCP's tool annotations. */
  readonly annotations?: { readonly [key: string]: Json };
  /** Icons of the tool, for user interfaces. */
  readonly icons?: readonly Icon[];
  /**
   * Metadata of the tool, with prefixed keys: `com.example/team`. The server sets
   * `io.github.mcp-saga/saga`.
   */
  readonly _meta?: { readonly [key: string]: Json };
}
