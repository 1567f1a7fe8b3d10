import { isRecord } from '@mcp-saga/core/program';
import { didYouMean, nearestName } from '@mcp-saga/core/shared';
import { SAGA_EXTENSION as sagaExtension, startSaga, SuspendedSaga } from '@mcp-saga/client';
import type { CallToolResult, ClientTurn, SagaStep } from '@mcp-saga/client';
import type { Client, Progress, Tool } from '@modelcontextprotocol/client';
import { fitted } from '../input/assignments.ts';
import type { CommandIo } from '../model/command.ts';
import { CliError } from '../model/errors.ts';
import type { Answering } from '../terminal/person.ts';
import { answerRequests } from './answer-requests.ts';
import { askArguments, missingArguments } from './ask-arguments.ts';
import { dropSaga, sagaToContinue, storeSaga } from './kept-saga.ts';
import { acceptTasks, followTask, tasksExtension, unhurried, waited } from './follow-task.ts';

/**
 * How a tool is called: by the saga methods, by `tools/call` of the SDK, as a model without a user
 * interface, or as a task.
 */
export const ways = ['saga-methods', 'tool', 'resume-token', 'tasks'] as const;
type CallWay = (typeof ways)[number];

/** A call, and how its questions are answered. */
export interface ToolCall {
  readonly tool: Tool;
  readonly way: CallWay;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Arguments that the schema of the tool types. */
  readonly texts: ReadonlyMap<string, string>;
  readonly answer: Answering;
  /** File that stores the saga while it is open, and from which it continues. */
  readonly keep?: string | undefined;
}

/** Capabilities that a client declares for a way. */
export function declaredFor(way: CallWay | undefined): Readonly<Record<string, object>> {
  if (way === 'resume-token') return {};
  const extensions = way === 'tasks' ? { extensions: { [tasksExtension]: {} } } : {};
  return { elicitation: { form: {}, url: {} }, sampling: {}, roots: {}, ...extensions };
}

/** Chooses the way of a call: the saga methods, if the server has them. */
export function wayFor(client: Client): CallWay {
  return offers(client, sagaExtension) ? 'saga-methods' : 'tool';
}

/** `true` if the server has tasks, which need MCP 2026-07-28. */
export function offersTasks(client: Client): boolean {
  return offers(client, tasksExtension) && client.getProtocolEra() !== 'legacy';
}

function offers(client: Client, extension: string): boolean {
  return extension in Object(client.getServerCapabilities()?.extensions);
}

/** Calls a tool to its end. */
export async function callTool(
  client: Client,
  given: ToolCall,
  io: CommandIo,
): Promise<CallToolResult> {
  const { tool, way, texts } = given;
  const read = Array.from(texts, ([name, text]) => [
    name,
    fitted(tool.inputSchema.properties?.[name], text),
  ]);
  const args = { ...given.arguments, ...Object.fromEntries(read) };
  if (given.keep !== undefined && way !== 'saga-methods')
    throw new CliError('usage', '--keep needs the saga methods of the server.');
  const kept =
    given.keep === undefined
      ? undefined
      : await sagaToContinue(given.keep, { tool, arguments: args }, io);
  // A stored saga has its arguments.
  const missing = kept === undefined ? missingArguments(tool, args) : [];
  const isAsked = io.isInteractive && missing.length > 0;
  const asked = isAsked ? await askArguments(tool, missing, io) : {};
  const call = { ...given, arguments: { ...args, ...asked } };
  if (missing.length > 0 && !isAsked)
    io.note(`The tool '${tool.name}' needs ${missing.map((each) => `--arg ${each}=…`).join(' ')}.`);
  for (const text of argumentAdvice(call)) io.note(text);
  if (way === 'saga-methods') return await callBySagaMethods(client, { ...call, kept }, io);
  if (way !== 'tasks') return await callByTool(client, call, io);
  if (!offersTasks(client))
    throw new CliError('usage', '--as tasks: the server has no tasks, which need MCP 2026-07-28.');
  acceptTasks(client);
  return await followTask(client, await callByTool(client, call, io), call.answer, io);
}

/** Finds a tool of a server. Throws `no_tool`. */
export async function toolNamed(
  client: Client,
  name: string,
  { signal }: CommandIo,
): Promise<Tool> {
  const { tools } = await client.listTools(undefined, { signal });
  const found = tools.find((tool) => tool.name === name);
  if (found !== undefined) return found;
  const names = tools.map((tool) => tool.name);
  throw new CliError('no_tool', lacking('The server has no tool', name, names));
}

function lacking(sentence: string, name: string, known: readonly string[]): string {
  return `${sentence} '${name}'.${didYouMean(nearestName(name, known))} It has: ${known.join(', ') || 'none'}.`;
}

/** Advice for arguments that the schema does not name. The server decides about them. */
function* argumentAdvice({ tool, arguments: given }: ToolCall): Generator<string> {
  const { name, inputSchema } = tool;
  const { properties = {}, additionalProperties, patternProperties } = inputSchema;
  if (Boolean(additionalProperties) || patternProperties !== undefined) return;
  // Clients without forms resume by these arguments.
  const added = Object.hasOwn(properties, 'resumeToken') ? ['resumeToken', 'answers'] : [];
  const known = Object.keys(properties).filter((argument) => !added.includes(argument));
  for (const argument of Object.keys(given))
    if (!Object.hasOwn(properties, argument))
      yield lacking(`The tool '${name}' has no argument`, argument, known);
}

/** Shows the progress that a tool reports. */
function showProgress(note: CommandIo['note'], { progress, total, message = '' }: Progress): void {
  // The SDK reports its rounds, too.
  if (message.startsWith('Fulfilling input required by')) return;
  note(`progress: ${progress}${total === undefined ? '' : ` of ${total}`} ${message}`.trimEnd());
}

async function callBySagaMethods(
  client: Client,
  call: ToolCall & { readonly kept: unknown },
  io: CommandIo,
): Promise<CallToolResult> {
  const { tool, arguments: args, answer, keep, kept } = call;
  const { note, signal } = io;
  const onprogress = (progress: Progress): void => showProgress(note, progress);
  const options = { signal, requestOptions: { ...unhurried, onprogress } };
  const own = isRecord(kept) && isRecord(kept['arguments']) ? kept['arguments'] : args;
  const store = (saga: SuspendedSaga): void => {
    if (keep !== undefined) storeSaga(keep, saga, own);
  };
  let turn: ClientTurn =
    kept !== undefined
      ? { status: 'suspended', saga: SuspendedSaga.from(client, kept) }
      : await startSaga(client, { name: tool.name, arguments: args }, options);
  while (turn.status === 'suspended') {
    let saga: SuspendedSaga = turn.saga;
    if (saga.name !== tool.name)
      throw new CliError('usage', `--keep ${keep}: the file has a saga of '${saga.name}'.`);
    note(`turn ${saga.turn}: the token has ${saga.tokenBytes} bytes`);
    for (const block of saga.content ?? []) if (block.type === 'text') note(block.text);
    try {
      store(saga);
      if (saga.steps.length === 0) await waited((saga.retryAt ?? 0) - Date.now(), signal);
      // One question at a time, for a person.
      for (const step of saga.pending) {
        saga = saga.withAnswers([await answer(step)]);
        store(saga);
      }
    } catch (error) {
      const how =
        keep === undefined ? '--keep continues such a call' : `continue it with --keep ${keep}`;
      note(`The saga stays suspended: ${how}.`);
      throw error;
    }
    turn = await saga.resume([], options);
  }
  if (keep !== undefined) dropSaga(keep);
  return turn.result;
}

/**
 * Calls by `tools/call`. A server that cannot ask returns a token, as to a model: the call repeats
 * with the answers.
 */
async function callByTool(client: Client, call: ToolCall, io: CommandIo): Promise<CallToolResult> {
  const { tool, way, arguments: args, answer } = call;
  const { note, signal } = io;
  const onprogress = (progress: Progress): void => showProgress(note, progress);
  const options = { ...unhurried, signal, onprogress };
  const failed =
    way === 'resume-token' ? new Promise<never>(() => undefined) : answerRequests(client, answer);
  let more: { readonly resumeToken?: string; readonly answers?: object } = {};
  try {
    for (let round = 1; ; round += 1) {
      const called = client.callTool({ name: tool.name, arguments: { ...args, ...more } }, options);
      const result = (await Promise.race([called, failed])) as CallToolResult;
      const { nextResumeToken: resumeToken, _meta: meta } = result;
      if (typeof resumeToken !== 'string') return result;
      note(`round ${round}: the token has ${resumeToken.length} bytes`);
      more = { resumeToken };
      const { steps = [], retryAfterMs } = Object(meta?.[sagaExtension]) as {
        readonly steps?: readonly SagaStep[];
        readonly retryAfterMs?: number;
      };
      if (steps.length === 0) await waited(retryAfterMs, signal);
      const answers: Record<string, unknown> = {};
      for (const step of steps) {
        const { result: given, error } = await answer(step);
        if (error !== undefined) throw new Error(error.message);
        answers[step.stepId] = given;
      }
      if (steps.length > 0) more = { resumeToken, answers };
    }
  } catch (error) {
    if (offers(client, sagaExtension) && (error instanceof CliError || 'resumeToken' in more))
      note('The saga stays unfinished. Only a call by the saga methods with --keep can continue.');
    throw error;
  }
}
