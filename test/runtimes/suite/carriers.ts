import type { Fields, WireMessage } from '../../support/wire/channel.ts';
import { capabilitiesOf } from '../../support/wire/ways.ts';
import { accepted, completed } from './answers.ts';
import { ask } from './wire.ts';

/** A dialect, with its way to store and return a token. */
export interface Carrier {
  readonly name: string;
  /** Expected response to every token that does not open. It must not change. */
  readonly refused: object;
  /** Starts a saga with this label, which asks a question. Returns the token. */
  begin(url: URL, label: string): Promise<string>;
  /** Continues with the answer. */
  goOn(url: URL, label: string, token: string): Promise<WireMessage>;
}

const asked = {
  address: accepted({ address: 'Main Street 1' }),
  place: accepted({ place: 'here' }),
};
const knowsTasks = capabilitiesOf({ dialect: 'tasks', era: '2026-07-28' });
const resumable = capabilitiesOf({ dialect: 'resumable requests', era: '2026-07-28' });

function frozen(message: string, reason: string): object {
  return { code: -32_602, message, data: { reason } };
}

/** A request that is repeated with `requestState`. */
function inRounds(name: string, method: string, paramsOf: (label: string) => Fields): Carrier {
  return {
    name,
    refused: frozen('Invalid or expired requestState', 'invalid_request_state'),
    begin: async (url, label) => {
      const { result } = await ask(url, method, paramsOf(label));
      const requestState = result?.['requestState'];
      if (result?.['inputRequests'] !== undefined) return text(requestState);
      // The first response has a token only, before the first effect.
      const asking = await ask(url, method, { ...paramsOf(label), requestState });
      return text(asking.result?.['requestState']);
    },
    goOn: (url, label, requestState) =>
      ask(url, method, { ...paramsOf(label), requestState, inputResponses: asked }),
  };
}

/** Carrier of the saga methods. */
export const sagaMethods: Carrier = {
  name: 'saga methods',
  refused: frozen('Invalid or expired sagaToken', 'invalid_saga_token'),
  begin: async (url, label) => {
    const call = { name: 'order', arguments: { label } };
    // The first response has a token only, before the first effect.
    const begun = await ask(url, 'tools/callSaga', call);
    const sagaToken = begun.result?.['sagaToken'];
    const { result } = await ask(url, 'tools/resumeSaga', { sagaToken });
    return text(result?.['sagaToken']);
  },
  goOn: (url, _, sagaToken) =>
    ask(url, 'tools/resumeSaga', {
      sagaToken,
      completedSteps: completed('address', asked.address),
    }),
};

/** All dialects whose token contains the whole saga. */
export const carriers: readonly Carrier[] = [
  sagaMethods,
  inRounds('multi round-trip, a tool', 'tools/call', (label) => ({
    name: 'order',
    arguments: { label },
  })),
  inRounds('multi round-trip, a prompt', 'prompts/get', (label) => ({
    name: 'greeting',
    arguments: { label },
  })),
  inRounds('multi round-trip, a resource', 'resources/read', (label) => ({
    uri: `pages://${label}`,
  })),
  {
    name: 'resume token',
    refused: frozen(
      'Invalid or expired resumeToken. Send the exact resumeToken of the newest result, with the same arguments as before. ' +
        'To start anew, omit resumeToken and answers: finished steps then run again.',
      'invalid_resume_token',
    ),
    begin: async (url, label) => {
      const params = { name: 'order', arguments: { label } };
      const { result } = await ask(url, 'tools/call', params, { capabilities: {} });
      return text(result?.['nextResumeToken']);
    },
    goOn: (url, label, resumeToken) => {
      const args = { label, resumeToken, answers: { address: asked.address } };
      return ask(url, 'tools/call', { name: 'order', arguments: args }, { capabilities: {} });
    },
  },
  {
    name: 'resumable requests',
    refused: frozen('Invalid or expired resumeToken', 'invalid_resume_token'),
    begin: async (url, label) => {
      let token: unknown;
      const onNotification = (method: string, told: Fields): void => {
        if (method === 'notifications/requests/resumePolicy') token = told['resumeToken'];
      };
      const params = { name: 'order', arguments: { label } };
      await ask(url, 'tools/call', params, { capabilities: resumable, onNotification });
      return text(token);
    },
    // A resumed request contains only the token.
    goOn: (url, _, resumeToken) =>
      ask(url, 'requests/resume', { resumeToken }, { capabilities: resumable }),
  },
];

/** Carrier of tasks: the server stores the sealed state, and the client's task ID opens it. */
export const tasks: Carrier = {
  name: 'tasks',
  refused: frozen('Unknown or expired task', 'invalid_task_id'),
  begin: async (url, label) => {
    const params = { name: 'order', arguments: { label } };
    const { result } = await ask(url, 'tools/call', params, { capabilities: knowsTasks });
    const taskId = text(result?.['taskId']);
    let status = result?.['status'];
    // The first turn runs in the background.
    while (status === 'working')
      status = (await ask(url, 'tasks/get', { taskId }, { capabilities: knowsTasks })).result?.[
        'status'
      ];
    return taskId;
  },
  goOn: (url, _, taskId) =>
    ask(url, 'tasks/update', { taskId, inputResponses: asked }, { capabilities: knowsTasks }),
};

/** `true` if a token was accepted: a resumed request returns its next input as an error. */
export function isTaken({ result, error }: WireMessage): boolean {
  return result !== undefined || Object(error?.data).reason === 'input_required';
}

function text(token: unknown): string {
  if (typeof token !== 'string') throw new TypeError('No token came.');
  return token;
}
