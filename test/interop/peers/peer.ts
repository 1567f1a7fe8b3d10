/** Address of the server. */
export type Target =
  | { readonly url: string }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
    };

/** The connection of a client, and its capabilities. */
export interface Way {
  readonly target: Target;
  /** `modern`: first looks for a 2026-07-28 server. `legacy`: begins with `initialize`. */
  readonly era: 'modern' | 'legacy';
  /** `true` if the client declares elicitation and answers questions. */
  readonly elicitation: boolean;
}

/**
 * Result of a tool: only the fields that the tests read. Some clients return the structured content
 * alone, which has none of them.
 */
export interface ToolResult {
  readonly content?: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly nextResumeToken?: string;
}

/** Outcome of one tool call for a client. */
export interface Called {
  /** Result that the client returns to its program. */
  readonly result: ToolResult;
  /** Text that the client shows to its model. */
  readonly shown: string;
}

/** A connected client. */
export interface Peer {
  /** Questions to the user, in order. */
  readonly asked: readonly string[];
  call(tool: string, args: Json): Promise<Called>;
  close(): Promise<void>;
}

/** A JSON object. */
export interface Json {
  readonly [key: string]: unknown;
}

/** Task for a client, as data, because the client runs in another process. */
export interface Job {
  readonly way: Way;
  readonly tool: string;
  /** Answers of the model, if it must answer: one record per call. */
  readonly modelAnswers: readonly Json[];
}

/** A client, as its server sees it. */
export interface Client {
  readonly revision: string;
  /** Names of the declared capabilities, or `unknown` if the server cannot know them. */
  readonly declared: readonly string[] | 'unknown';
  readonly hasSession: boolean;
}

/** Result of a run. */
export interface Report {
  /** The client, as the server sees it. */
  readonly client: Client;
  /** Questions to the user. */
  readonly asked: readonly string[];
  /** All calls of the tool. The last one contains the final result. */
  readonly calls: readonly Called[];
}

/** What a client's process says of a job. */
export type Outcome = { readonly report: Report } | { readonly error: string };

const args = { initial_arg: 'value' };

/** Answers of the user, by question. */
export const userAnswers: { readonly [message: string]: Json } = {
  'Please provide the deployment target:': { target: 'production' },
  "Is deploying to 'production' safe right now?": { sure: true },
};

/**
 * Calls a tool to its end like a model: if the text names a token, calls the tool again with the
 * token and the answers.
 */
export async function drive(peer: Peer, { tool, modelAnswers }: Job): Promise<Report> {
  const client = JSON.parse(textOf(await peer.call('who_am_i', {}))) as Client;
  const calls = [await peer.call(tool, args)];
  for (const answers of modelAnswers) {
    const { shown } = calls.at(-1) as Called;
    const resumeToken = tokenIn(shown);
    if (resumeToken === undefined) break;
    // The model does not answer questions that the client asks the user.
    if (!Object.keys(answers).every((stepId) => shown.includes(stepId))) continue;
    calls.push(await peer.call(tool, { ...args, resumeToken, answers: JSON.stringify(answers) }));
  }
  return { client, asked: peer.asked, calls };
}

/** The token in what a model reads, mostly JSON: the line break before the token is escaped there. */
function tokenIn(shown: string): string | undefined {
  return /resumeToken is exactly this:(?:\\+n|\s)+([\w.-]+)/.exec(shown)?.[1];
}

/** The text of a result. */
export function textOf({ result }: Called): string {
  return result.content?.[0]?.text ?? '';
}
