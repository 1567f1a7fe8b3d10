import { type Client, type Job, type Json, type Report, textOf, type Way } from '../peers/peer.ts';
import { type Place, serve } from './serve.ts';

/** Does a job with one client. */
export type RunPeer = (job: Job) => Promise<Report>;

/** What is played. */
export interface Play extends Omit<Way, 'target'> {
  readonly place: Place;
  readonly tool: 'complex_tool' | 'asked_tool';
  /** Whether the host has a model of its own. Default: no. */
  readonly hasModel?: boolean;
}

/** What came of it. */
export interface Played {
  readonly client: Client;
  /** What the user was asked. */
  readonly asked: readonly string[];
  /** How often the tool was called. */
  readonly calls: number;
  /** Whether the model saw each token that it had to call the tool with. */
  readonly tokensShown: boolean;
  /** The last result: its text, and whether it is an error. */
  readonly text: string;
  readonly isError: boolean;
  /** The server steps that succeeded. */
  readonly effects: readonly string[];
}

/** What the quickstart ends with. */
export const deployed = 'Deployment to production initiated successfully based on confirmation.';

/** What the user is asked. */
export const questions = [
  'Please provide the deployment target:',
  "Is deploying to 'production' safe right now?",
] as const;

/** What a model answers for the user and itself, call by call, by the ids of the steps. */
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
export async function play(run: RunPeer, { place, hasModel = false, tool, ...way }: Play): Promise<Played> {
  const served = await serve(place, { hasModel });
  try {
    const { target } = served;
    const { client, asked, calls } = await run({ way: { ...way, target }, tool, modelAnswers });
    const last = calls.at(-1)!;
    return {
      client,
      asked,
      calls: calls.length,
      tokensShown: calls.every(({ result, shown }) => shown.includes(result.nextResumeToken ?? '')),
      text: textOf(last),
      isError: last.result.isError === true,
      effects: await served.effects(),
    };
  } finally {
    await served.stop();
  }
}
