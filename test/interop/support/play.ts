import { type Client, type Json, textOf, type Way } from '../peers/peer.ts';
import type { PeerProcess } from './run-in-node.ts';
import { type Place, serve } from './serve.ts';

/** A run of a client. */
export interface Play extends Omit<Way, 'target'> {
  readonly place: Place;
  readonly tool: 'complex_tool' | 'asked_tool' | 'typed_tool' | 'immediate_tool';
  /** `true` if the host has its own model. @default false */
  readonly hasModel?: boolean;
}

/** Outcome of a client run. */
export interface Played {
  readonly client: Client;
  /** Questions to the user. */
  readonly asked: readonly string[];
  /** Number of tool calls. */
  readonly calls: number;
  /** `true` if the model saw every token that it needed for a tool call. */
  readonly tokensShown: boolean;
  /** Text of the last result, and `true` if the result is an error. */
  readonly text: string;
  readonly isError: boolean;
  /** The last result as the client shows it to its model. */
  readonly shown: string;
  /** The server steps that succeeded. */
  readonly effects: readonly string[];
}

/** Final text of the quickstart. */
export const deployed = 'Deployment to production initiated successfully based on confirmation.';

/** Questions to the user. */
export const questions = [
  'Please provide the deployment target:',
  "Is deploying to 'production' safe right now?",
] as const;

/** Answers of a model in place of the user and itself, one record per call, by step ID. */
const modelAnswers: readonly Json[] = [
  { 'step-elicitation-A': { action: 'accept', content: { target: 'production' } } },
  {
    'step-sampling-B': {
      role: 'assistant',
      content: { type: 'text', text: 'Yes, all systems are green.' },
      model: 'client-side-llm-v2',
    },
  },
];

/** Calls a tool to its end with one client, on a server of its own. */
export async function play(
  peer: PeerProcess,
  { place, hasModel = false, tool, ...way }: Play,
): Promise<Played> {
  const served = await serve(place, { hasModel });
  try {
    const { target } = served;
    const { client, asked, calls } = await peer.run({
      way: { ...way, target },
      tool,
      modelAnswers,
    });
    const last = calls.at(-1)!;
    return {
      client,
      asked,
      calls: calls.length,
      tokensShown: calls.every(({ result, shown }) => shown.includes(result.nextResumeToken ?? '')),
      text: textOf(last),
      isError: last.result.isError === true,
      shown: last.shown,
      effects: await served.effects(),
    };
  } finally {
    await served.stop();
  }
}
