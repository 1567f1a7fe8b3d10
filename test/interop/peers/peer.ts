/** Where the server is. */
export type Target =
  | { readonly url: string }
  | {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: { readonly [name: string]: string };
    };

/** How a client comes to a server, and what it declares. */
export interface Way {
  readonly target: Target;
  /** Whether it looks for a server of 2026-07-28 first, or begins with `initialize`. */
  readonly era: 'modern' | 'legacy';
  /** Whether it declares elicitation, and answers the questions it is asked. */
  readonly elicitation: boolean;
}

/** A tool's result, as far as it is looked at. */
export interface ToolResult {
  readonly content: readonly { readonly text?: string }[];
  readonly isError?: boolean;
  readonly nextResumeToken?: string;
}

/** What a client gets of one call of a tool. */
export interface Called {
  /** The result, as the client hands it to the program around it. */
  readonly result: ToolResult;
  /** What the client hands to its model, as text. */
  readonly shown: string;
}

/** One of the clients, connected. */
export interface Peer {
  /** What is asked of the user, in order. */
  readonly asked: readonly string[];
  call(tool: string, args: Json): Promise<Called>;
  close(): Promise<void>;
}

/** A JSON object. */
export interface Json {
  readonly [key: string]: unknown;
}

/** What shall be done, as data: it goes to a client in another process. */
export interface Job {
  readonly way: Way;
  readonly tool: string;
  /** What the model answers, one record of answers a call, where it has to. */
  readonly modelAnswers: readonly Json[];
}

/** As what a server knows a client. */
export interface Client {
  readonly revision: string;
  /** The names of the capabilities it declared, or that the server cannot know them. */
  readonly declared: readonly string[] | 'unknown';
  readonly hasSession: boolean;
}

/** What came of it. */
export interface Report {
  /** As what the server knows the client. */
  readonly client: Client;
  /** What the user was asked. */
  readonly asked: readonly string[];
  /** Each call of the tool, the last with its end. */
  readonly calls: readonly Called[];
}

const args = { initial_arg: 'value' };

/** What the user answers to each question. */
export const userAnswers: { readonly [message: string]: Json } = {
  'Please provide the deployment target:': { target: 'production' },
  "Is deploying to 'production' safe right now?": { sure: true },
};

/**
 * Calls a tool to its end as a model does: what it is shown names a token, so it calls the tool again with the token
 * and its answers.
 */
export async function drive(peer: Peer, { tool, modelAnswers }: Job): Promise<Report> {
  const client = JSON.parse(textOf(await peer.call('who_am_i', {}))) as Client;
  const calls = [await peer.call(tool, args)];
  for (const answers of modelAnswers) {
    const { result, shown } = calls.at(-1) as Called;
    const resumeToken = result.nextResumeToken;
    if (resumeToken === undefined) break;
    // What its client has asked the user already, it is not asked.
    if (!Object.keys(answers).every((stepId) => shown.includes(stepId))) continue;
    calls.push(await peer.call(tool, { ...args, resumeToken, answers: JSON.stringify(answers) }));
  }
  return { client, asked: peer.asked, calls };
}

/** The text of a result. */
export function textOf({ result }: Called): string {
  return result.content[0]?.text ?? '';
}
