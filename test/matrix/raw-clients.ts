import { sampled, type Answers, type ToolCall } from './answers.ts';
import type { MatrixClient } from './matrix-client.ts';
import { resumed } from './resumed.ts';
import type { World } from './world.ts';

/** Writes JSON-RPC without any SDK, and sends each request to the other process. */
class Wire {
  readonly #world: World;
  readonly #capabilities: object;
  readonly #isModern: boolean;
  /** Methods of the received notifications. */
  readonly told: string[] = [];
  #sent = 0;

  constructor(world: World, era: 'legacy' | 'modern', capabilities: object) {
    this.#world = world;
    this.#capabilities = capabilities;
    this.#isModern = era === 'modern';
  }

  async send(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++this.#sent;
    const response = await fetch(this.#world.urls[id % 2] as URL, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': this.#isModern ? '2026-07-28' : '2025-11-25',
        ...(this.#isModern ? { 'mcp-method': method, ...nameOf(params) } : {}),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, ...this.#meta() } }),
    });
    const body = await response.text();
    const data = body.startsWith('{')
      ? [body]
      : [...body.matchAll(/^data: ?(.+)$/gm)].map(([, text]) => text);
    const messages = data.map((text) => JSON.parse(text as string) as Message);
    this.told.push(...messages.flatMap(({ method: told }) => told ?? []));
    const { result, error } = messages.at(-1) ?? {};
    if (result === undefined) throw new Error(JSON.stringify(error));
    return result;
  }

  #meta(): object {
    if (!this.#isModern) return {};
    const key = 'io.modelcontextprotocol/';
    return {
      _meta: {
        [`${key}protocolVersion`]: '2026-07-28',
        [`${key}clientInfo`]: { name: 'raw', version: '1' },
        [`${key}clientCapabilities`]: this.#capabilities,
      },
    };
  }
}

interface Message {
  readonly method?: string;
  readonly result?: Record<string, unknown>;
  readonly error?: unknown;
}

function nameOf(params: object): object {
  return 'name' in params ? { 'mcp-name': params.name } : {};
}

function answerTo(type: string, answers: Answers): object {
  return type.startsWith('elicitation') ? answers.form : sampled(answers.text);
}

async function bySagaMethods(wire: Wire, call: ToolCall, answers: Answers): Promise<unknown> {
  let result = await wire.send('tools/callSaga', call);
  const completedSteps: object[] = [];
  while (result['state'] === 'suspended') {
    const steps = result['steps'] as readonly { readonly stepId: string; readonly type: string }[];
    completedSteps.push(
      ...steps.map(({ stepId, type }) => ({ stepId, result: answerTo(type, answers) })),
    );
    result = await wire.send('tools/resumeSaga', {
      sagaToken: result['sagaToken'],
      completedSteps,
    });
  }
  return result;
}

async function inRounds(wire: Wire, call: ToolCall, answers: Answers): Promise<unknown> {
  let result = await wire.send('tools/call', call);
  while (result['resultType'] === 'input_required') {
    const { requestState } = result;
    // A call that only gives a token asks nothing.
    const requests = Object.entries(
      (result['inputRequests'] ?? {}) as Record<string, { readonly method: string }>,
    );
    const inputResponses = Object.fromEntries(
      requests.map(([key, { method }]) => [key, answerTo(method, answers)]),
    );
    result = await wire.send('tools/call', { ...call, requestState, inputResponses });
  }
  return result;
}

function rawClient(
  name: string,
  era: 'legacy' | 'modern',
  capabilities: object,
  call: (wire: Wire, call: ToolCall, answers: Answers) => Promise<unknown>,
): MatrixClient {
  return {
    name: `${name}: raw JSON-RPC, ${era === 'modern' ? '2026-07-28' : '2025-11-25'}, http in turns`,
    call: (world, ...rest) => call(new Wire(world, era, capabilities), ...rest),
  };
}

const everything = { elicitation: { form: {} }, sampling: {} };

async function asModel(
  wire: Wire,
  { name, ...call }: ToolCall,
  answers: Answers,
): Promise<unknown> {
  return await resumed(
    (args) => wire.send('tools/call', { name, arguments: args }),
    call.arguments,
    answers,
  );
}

/** Calls a tool with resumable requests, and gets a token after each step. */
async function resumably(wire: Wire, call: ToolCall, answers: Answers): Promise<unknown> {
  const result = await inRounds(wire, call, answers);
  if (!wire.told.includes('notifications/requests/resumePolicy'))
    throw new Error('No token was told.');
  return result;
}

const tasks = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** Clients without an SDK, one for each dialect. */
export const rawClients: readonly MatrixClient[] = [
  rawClient('saga methods', 'modern', everything, bySagaMethods),
  rawClient('saga methods', 'legacy', {}, bySagaMethods),
  rawClient('multi round-trip', 'modern', everything, inRounds),
  rawClient('resumable requests', 'modern', { ...everything, resumableRequests: {} }, resumably),
  rawClient('tasks declared', 'modern', { ...everything, ...tasks }, inRounds),
  rawClient('resume token', 'modern', {}, asModel),
  rawClient('resume token', 'legacy', {}, asModel),
];
