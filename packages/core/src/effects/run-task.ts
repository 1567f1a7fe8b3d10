import { answerHere } from './answer-on-server.ts';
import { decode, encode } from '../values/codec.ts';
import { isAskedOfClient, type CallSpec, type PollSpec } from '../model/command.ts';
import type { Runtime } from '../model/runtime.ts';
import type { StepGiven } from '../model/step-call.ts';
import { encodeError } from '../values/step-error-data.ts';
import type { Task } from '../replay/fiber.ts';
import type { EntryType } from '../journal/entry-types.ts';
import type { NewEntry } from '../journal/journal.ts';
import type { TurnAborted } from '../values/errors.ts';
import { performed } from './run/run-code.ts';
import { runStep } from './run/run-step.ts';
import { validate } from '../values/standard-schema.ts';

/** What became of a task that ran here: its journal entry, and the value as the body gets it. */
export interface TaskEnd {
  /** Undefined where a poll was not answered yet: it is asked again. */
  readonly entry: Omit<NewEntry, 'path' | 'fingerprint'> | undefined;
  readonly value: unknown;
  /** It could not be run, and neither can the turn. */
  readonly aborts?: TurnAborted;
}

/** Runs what does not wait for the client. Never rejects. */
export async function runTask(task: Task, runtime: Runtime, signal: AbortSignal): Promise<TaskEnd> {
  try {
    return await run(task, runtime, signal);
  } catch (error) {
    runtime.threw?.(task.path, error);
    return end(task.unknown ? 'failedUnknown' : 'failed', encodeError(error));
  }
}

async function run(task: Task, runtime: Runtime, signal: AbortSignal): Promise<TaskEnd> {
  const { spec, path } = task;
  switch (spec.kind) {
    case 'step': {
      const done = await runStep(task, spec, runtime, signal);
      if ('aborts' in done) return { entry: undefined, value: undefined, ...done };
      return 'text' in done ? end(done.type, done.text) : { entry: { type: done.type }, value: undefined };
    }
    case 'random':
      return end('read', encode(fractionOf(await runtime.randomBytes(path))));
    case 'uuid':
      return end('uuid', encode(uuidOf(await runtime.randomBytes(path))));
    case 'stepKey':
      return end('read', encode(await runtime.idempotencyKey(spec.path, spec.key, 'do')));
    case 'poll':
      return await ask(spec, path, runtime, { context: runtime.context, signal, attempt: task.asked + 1 });
    case 'call':
      return await parseArguments(spec);
    case 'elicit':
    case 'sample':
      return await answerHere(spec, path, runtime, signal);
    case 'sleep':
    case 'elicitUrl':
    case 'roots':
    case 'checkpoint':
    case 'now':
    case 'info':
      throw new TypeError(`${spec.kind} does not run here`);
  }
}

// The body sees what went through the codec, in the first run too. (R2)
function end(type: EntryType, text: string): TaskEnd {
  return { entry: { type, text }, value: decode(text) };
}

async function ask(spec: PollSpec, path: string, runtime: Runtime, step: StepGiven): Promise<TaskEnd> {
  const answer = await performed(runtime, 'poll', path, spec.ask, step);
  return answer === undefined
    ? { entry: undefined, value: undefined }
    : end('polled', encode(answer, { where: `Poll '${path}': its answer` }));
}

async function parseArguments(spec: CallSpec): Promise<TaskEnd> {
  if (spec.input === undefined) return end('called', encode({}));
  const parsed = await validate(spec.input, spec.args);
  if (parsed.ok) return end('called', encode(parsed.value));
  const message = `Invalid arguments for '${spec.id}': ${parsed.issues}`;
  return end('failed', encode({ name: 'InvalidInput', message, code: 'invalid_input' }));
}

/** A number in [0, 1) of the first 53 bits. */
function fractionOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return ((view.getUint32(0) >>> 5) * 2 ** 26 + (view.getUint32(4) >>> 6)) / 2 ** 53;
}

/** A version 4 UUID of the first 16 bytes (RFC 9562). */
function uuidOf(bytes: Uint8Array): string {
  const octets = bytes.slice(0, 16);
  octets[6] = ((octets[6] as number) & 0x0f) | 0x40;
  octets[8] = ((octets[8] as number) & 0x3f) | 0x80;
  const hex = Array.from(octets, (octet) => octet.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Whether a task that runs here touches the world: it counts as a server step. */
export function isEffect({ spec }: Pick<Task, 'spec'>): boolean {
  return spec.kind === 'step' || spec.kind === 'poll' || isAskedOfClient(spec.kind);
}
