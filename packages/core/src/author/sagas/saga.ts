import { present } from '../../values/json.ts';
import { assertKnownOptions, assertOneOf, optionNames } from '../../values/known-options.ts';
import { AuthoringError } from '../../values/errors.ts';
import { generatorProgram } from '../../turn/generator-program.ts';
import type { Command, SagaBody } from '../../model/command.ts';
import type { CheckedBody } from '../checks/checked-body.ts';
import type { NeedsForks } from '../checks/needs-forks.ts';
import type { ClientNeed } from '../../values/errors.ts';
import type { PreviousProgram, Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import { assertStepId } from '../../values/path.ts';
import type { InferInput, InferOutput, LooseFields, Schema } from '../../values/standard-schema.ts';
import { assertToolFields } from './assert-tool-fields.ts';

/** A block of content in a tool's result, as MCP has it. */
export interface ContentBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

/** A tool's result, as MCP has it. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: { readonly [key: string]: unknown };
  readonly isError?: boolean;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** What a body gets: the parsed arguments, or an empty object where no `input` is declared. */
export type BodyInput<I extends Schema | undefined> = I extends Schema
  ? InferOutput<I>
  : Record<string, never>;

/** What a body returns: the structured value where an `output` is declared, else a text or a tool result. */
export type BodyResult<O extends Schema | undefined> = O extends Schema ? InferInput<O> : string | ToolResult;

/** What a saga is, apart from its body. */
export interface SagaOptions<I extends Schema | undefined, O extends Schema | undefined> extends ToolFields {
  /** The name of the tool. A token is bound to it: two sagas of one host never have the same. */
  readonly name: string;
  /** Raise it when the order or content of steps changes. A token names the version it was started with. */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** The schema of the arguments. It parses them once, at the start. */
  readonly input?: I | LooseFields;
  /** The schema of the result, if it is structured. */
  readonly output?: O | LooseFields;
  /**
   * A token is a save-game: without a guard, an older one can be used again. `refuse` needs a guard on the host. `accept`: older
   * tokens may be reused safely; cannot `continueAs` a saga that refuses. Required for a saga that compensates.
   */
  readonly forks?: 'refuse' | 'accept';
  /** What the client must be able to do, checked before anything runs. (W3) */
  readonly needs?: readonly ClientNeed[];
  /** `accept`: the model that calls the tool may answer if the client cannot be asked. `accept` of a question wins. Default: host's. */
  readonly modelAnswers?: 'accept';
  /** `prefer`: clients with MCP tasks get one. `require`: other clients are refused. Default: no task. */
  readonly task?: 'prefer' | 'require';
  /** Commits before the first server step, so that a lost answer cannot repeat it. Costs one round trip. Default `false`. */
  readonly commitFirst?: boolean;
  /**
   * Commits after each step: a repeated request continues behind it. Needs `forks: 'refuse'`, and so a guard, which keeps a
   * token a step. Implies `commitFirst`. Default `false`.
   */
  readonly commitEach?: boolean;
  /**
   * Treatment of a running saga that no longer fits the code. `fail`: it stays as it is, so that the code can be rolled back.
   * `compensate`: undoes what still fits or has a named compensator. Default `fail`.
   */
  readonly onMismatch?: 'fail' | 'compensate';
  /** Older versions, which go on for the sagas they started: each until its date, or for good. (R5) */
  readonly previous?: readonly PreviousProgram[];
}

/** A saga: give it to a host, or run it inside another one with `call`. */
export interface Saga<I extends Schema | undefined, O extends Schema | undefined> extends Program {
  readonly input: I;
  readonly output: O;
  readonly body: SagaBody<BodyInput<I>, BodyResult<O>>;
}

/** The names of the options of a saga. */
export const sagaOptionNames: ReadonlySet<string> = /* @__PURE__ */ optionNames<
  SagaOptions<undefined, undefined>
>({
  name: true,
  version: true,
  title: true,
  description: true,
  input: true,
  output: true,
  forks: true,
  needs: true,
  modelAnswers: true,
  task: true,
  annotations: true,
  icons: true,
  _meta: true,
  expectedDurationMs: true,
  commitFirst: true,
  commitEach: true,
  onMismatch: true,
  previous: true,
});

/**
 * Defines a saga: a tool of several steps, written as a generator that reads straight down.
 *
 * The body must be deterministic between its steps: it is replayed, with the recorded results, whenever the saga
 * goes on. Read the time with `now()`, randomness with `random()` and `uuid()`, and do everything that touches the
 * world in a `step`.
 *
 * @throws AuthoringError where the options cannot be meant
 */
export function saga<
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
  Y = Command<unknown>,
  const R = BodyResult<O>,
>(
  options: SagaOptions<I, O> & NeedsForks<Y>,
  body: CheckedBody<BodyInput<I>, Y, R, BodyResult<O>>,
): Saga<I, O> {
  assertKnownOptions('saga', Object(options).name, options, sagaOptionNames);
  const { name, version } = options;
  if (typeof name !== 'string' || name.length === 0 || name.length > 128) {
    throw new AuthoringError('A saga needs a name of 1 to 128 characters.');
  }
  if (typeof version !== 'string' || version.length === 0) {
    throw new AuthoringError(`Saga '${name}' needs a version, a string such as '1'.`);
  }
  if (typeof body !== 'function') {
    throw new AuthoringError(`Saga '${name}' needs a body: a generator function, function* (input) { … }.`);
  }
  assertSyncBody(name, body);
  assertServing(options);
  assertToolFields(name, options);
  assertSchema(name, 'input', options.input);
  assertSchema(name, 'output', options.output);
  const { onMismatch = 'fail', commitEach = false } = options;
  // CheckedBody has judged what it yields and returns.
  const checked = body as unknown as SagaBody<BodyInput<I>, BodyResult<O>>;
  return {
    name,
    version,
    title: options.title,
    description: options.description,
    input: options.input as I,
    output: options.output as O,
    forks: options.forks,
    needs: options.needs ?? [],
    modelAnswers: options.modelAnswers,
    task: options.task,
    annotations: options.annotations,
    ...present({
      icons: options.icons,
      _meta: options['_meta'],
      expectedDurationMs: options.expectedDurationMs,
    }),
    previous: options.previous ?? [],
    commitEach,
    onMismatch,
    body: checked,
    ...generatorProgram({
      name,
      input: options.input,
      commitFirst: commitEach || (options.commitFirst ?? false),
      declaresForks: options.forks !== undefined,
      onMismatch,
      body: checked,
    }),
  };
}

/** A function that returns a generator is a body, too: what is refused here cannot return one. */
function assertSyncBody(name: string, body: unknown): void {
  const tag = Object.prototype.toString.call(body);
  if (tag !== '[object AsyncGeneratorFunction]' && tag !== '[object AsyncFunction]') return;
  throw new AuthoringError(
    `The body of saga '${name}' is async. Write function* (input) { … }, and wait in a step: ` +
      "const order = yield* step('load', async () => …).",
  );
}

const clientNeeds: readonly unknown[] = ['elicitation', 'elicitation.url', 'sampling', 'roots'];

/** Throws an `AuthoringError` where what a saga says of its clients cannot be meant. */
function assertServing(options: SagaOptions<Schema | undefined, Schema | undefined>): void {
  const {
    name,
    needs = [],
    modelAnswers,
    task,
    forks,
    commitEach = false,
    onMismatch,
    previous = [],
  } = options;
  assertOneOf(`forks of saga '${name}'`, forks, ['refuse', 'accept']);
  assertOneOf(`onMismatch of saga '${name}'`, onMismatch, ['fail', 'compensate']);
  if (!Array.isArray(previous) || !previous.every((older) => typeof older?.saga?.advance === 'function')) {
    throw new AuthoringError(`previous of saga '${name}' must be a list of older versions: [{ saga: old }].`);
  }
  if (commitEach && forks !== 'refuse') {
    throw new AuthoringError(
      `Saga '${name}' has commitEach, which needs forks: 'refuse': a guard keeps what each step did.`,
    );
  }
  if (!Array.isArray(needs) || !needs.every((need) => clientNeeds.includes(need))) {
    throw new AuthoringError(`The needs of saga '${name}' must be a list of ${clientNeeds.join(', ')}.`);
  }
  assertOneOf(`modelAnswers of saga '${name}'`, modelAnswers, ['accept']);
  assertOneOf(`task of saga '${name}'`, task, ['prefer', 'require']);
}

/** Throws an `AuthoringError` unless a saga's name can be an id, which `call` needs. */
export function assertCallable(name: string): void {
  assertStepId(name);
}

/** The raw shape that the first MCP SDK took is no schema: nothing could parse by it. */
function assertSchema(
  name: string,
  option: 'input' | 'output',
  schema: Schema | LooseFields | undefined,
): void {
  if (schema === undefined || schema?.['~standard'] !== undefined) return;
  throw new AuthoringError(`Saga '${name}', ${option}: expected a schema. Wrap the fields in z.object({…}).`);
}
