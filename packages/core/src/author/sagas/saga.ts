/**
 * Makes a saga of options and a body. All options are checked when the module is loaded, so that a
 * mistake stops the start of a server and not a call. The result is a `Program`: data, which the
 * engine of the host runs.
 */
import { present } from '../../values/json.ts';
import { assertKnownOptions, assertOneOf } from '../../values/known-options.ts';
import type { NamesOf } from '../../values/unknown-option.ts';
import { AuthoringError } from '../../values/errors.ts';
import type { Command, needsStore, SagaBody } from '../../model/command.ts';
import type { CheckedBody, Readable } from '../checks/checked-body.ts';
import type { IsStoreNeeded, StoreOptions } from '../checks/yielded-commands.ts';
import type { Answerer } from '../../model/answerer.ts';
import type { ClientNeed } from '../../values/errors.ts';
import type { ContentBlock } from '../../model/content.ts';
import { isProgram, type PreviousProgram, type Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import type { InferInput, InferOutput, LooseFields, Schema } from '../../values/standard-schema.ts';
import { assertAnsweredBy } from '../checks/assert-answered-by.ts';
import { assertToolFields } from './assert-tool-fields.ts';

/** A tool's result, as MCP has it. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: { readonly [key: string]: unknown };
  readonly isError?: boolean;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** Input of a body whose saga has no `input`: an empty object. */
// A name, which compilers tell if a body reads an argument.
export interface NoInput {}

/** Input of a body: the parsed arguments, or an empty object without `input`. */
export type BodyInput<I extends Schema | undefined> = I extends Schema ? InferOutput<I> : NoInput;

/** Result of a body: the structured value of `output`, or else a text or a tool result. */
export type BodyResult<O extends Schema | undefined> = O extends Schema
  ? InferInput<O>
  : string | ToolResult;

/** Options of a saga. */
export interface SagaOptions<
  I extends Schema | undefined,
  O extends Schema | undefined,
> extends ToolFields {
  /** Name of the tool. Tokens are bound to it, so two sagas of a host cannot share a name. */
  readonly name: string;
  /**
   * Version of the code. Raise the version when the order or content of steps changes. A token
   * names the version of its saga.
   */
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  /** The schema of the arguments. It parses them once, at the start. */
  readonly input?: I | LooseFields;
  /** The schema of the result, if it is structured. */
  readonly output?: O | LooseFields;
  /**
   * `ok`: a client may use older tokens again, as with a saved game. Steps after that token then run
   * again, with other answers. Declare it if that does no harm: such a saga needs no store, and the
   * store keeps nothing of it. Default: with the `store` of the host, each token counts once;
   * without one, steps with an undo or `once` and pivots are refused.
   */
  readonly reuse?: 'ok' | undefined;
  /**
   * Rejects the call before anything runs if the client lacks one of these, unless the model or the
   * host may answer.
   */
  readonly needs?: readonly ClientNeed[];
  /**
   * Who may answer the questions of the saga, in this order; a question may say otherwise. With
   * `model`, the model that calls the tool may answer for its user if the client cannot ask, and the
   * host has `answerers: { model: 'accept' }`. Default: `['client', 'fallback']`.
   */
  readonly answeredBy?: readonly Answerer[];
  /**
   * `prefer`: clients with MCP tasks get one. `require`: other clients are refused. Default: no
   * task.
   */
  readonly task?: 'prefer' | 'require';
  /**
   * `false`: the saga never asks and never waits, so the tool lists no `resumeToken` and `answers`,
   * and each call ends with the saga. A command that asks or waits throws AuthoringError. Excludes
   * `task`, `needs`, and `answeredBy`. Default: the saga may suspend.
   */
  readonly suspends?: false;
  /**
   * Commits after each step: a repeated request continues after the last finished step. Needs
   * a store, which keeps a token for each step. Default `false`.
   */
  readonly commitEach?: boolean;
  /**
   * Treatment of a running saga that no longer matches the code. `fail` keeps the saga unchanged,
   * for a rollback of the code. `compensate` undoes the steps that still fit or have a named
   * compensator. Default `fail`.
   */
  readonly onMismatch?: 'fail' | 'compensate';
  /** Older versions of the saga. Each continues the running sagas of that version, until a date. */
  readonly previous?: readonly PreviousProgram[];
}

/**
 * What `call` returns for a saga whose body returns an `R`: the structured value of `output`, or
 * else a string or a tool result, whichever it is.
 */
export type CallResult<O extends Schema | undefined, R> = O extends Schema
  ? InferInput<O>
  : [0] extends [1 & R]
    ? string | ToolResult
    : [R] extends [string]
      ? string
      : [R] extends [Readable<ToolResult>]
        ? ToolResult
        : string | ToolResult;

/**
 * A saga. Pass it to a host, or run it inside another saga with `call`, which returns an `R`.
 */
export interface Saga<
  I extends Schema | undefined,
  O extends Schema | undefined,
  R = BodyResult<O>,
> extends Program {
  readonly input: I;
  readonly output: O;
  readonly body: SagaBody<BodyInput<I>, R>;
}

/** A saga with an undo, a pivot, or a `once` step. Its host needs a `store`. */
export interface GuardedSaga<
  I extends Schema | undefined,
  O extends Schema | undefined,
  R = BodyResult<O>,
> extends Saga<I, O, R> {
  // As in a guarded command: a list of sagas keeps both kinds, which it would not of an intersection.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly [needsStore]: any;
}

/** Names of the options that sagas, prompts, and resources share. */
export const sharedNames = {
  name: true,
  version: true,
  title: true,
  description: true,
  reuse: true,
  needs: true,
  commitEach: true,
  onMismatch: true,
  previous: true,
} as const;

/** Names of all saga options. */
export const sagaOptionNames: NamesOf<SagaOptions<undefined, undefined>> = {
  ...sharedNames,
  input: true,
  output: true,
  answeredBy: true,
  task: true,
  suspends: true,
  annotations: true,
  icons: true,
  _meta: true,
};

/**
 * Defines a saga: a tool of several steps, written as a generator.
 *
 * Whenever the saga continues, a replay runs the body again with the recorded results, so the body
 * must be deterministic between its steps. Read the time with `now()`, create random values with
 * `random()` and `uuid()`, and access other systems only in a `step`.
 * @throws AuthoringError for options that contradict each other or do not exist
 * @example
 * ```ts
 * const Order = z.object({ cents: z.number() });
 * const pay = saga({ name: 'pay', version: '1', input: Order }, function* ({ cents }) {
 *   const id = yield* step('charge', async (): Promise<string> => bank.charge(cents), {
 *     compensate: ({ result }) => bank.refund(result),
 *   });
 *   return `Paid: ${id}`;
 * });
 * ```
 */
export function saga<
  I extends Schema | undefined = undefined,
  O extends Schema | undefined = undefined,
  Y = Command<unknown>,
  const R = BodyResult<O>,
  Reuse extends 'ok' | undefined = undefined,
  CommitEach extends boolean | undefined = false,
>(
  options: SagaOptions<I, O> & StoreOptions<Reuse, CommitEach>,
  body: CheckedBody<BodyInput<I>, Y, R, BodyResult<O>>,
): IsStoreNeeded<Y, Reuse, CommitEach> extends true
  ? GuardedSaga<I, O, CallResult<O, R>>
  : Saga<I, O, CallResult<O, R>> {
  // Before the options: whoever gives the body among them would only learn that it is no option.
  if (typeof body !== 'function') {
    throw new AuthoringError('saga() needs a body, its second argument: function* (input) { … }.', {
      anchor: 'bodies',
    });
  }
  assertKnownOptions('saga', Object(options).name, options, sagaOptionNames);
  const { name, version } = options;
  if (typeof name !== 'string' || name.length === 0 || name.length > 128) {
    throw new AuthoringError('A saga needs a name of 1 to 128 characters.', {
      anchor: 'names-and-versions',
    });
  }
  if (typeof version !== 'string' || version.length === 0) {
    throw new AuthoringError(`Saga '${name}' needs a version, a string such as '1'.`, {
      anchor: 'names-and-versions',
    });
  }
  assertSyncBody(name, body);
  assertServing(options);
  assertToolFields(name, options);
  assertSchema(name, 'input', options.input);
  assertSchema(name, 'output', options.output);
  const { onMismatch = 'fail', commitEach = false } = options;
  // CheckedBody has checked the yields and the result.
  const checked = body as unknown as SagaBody<BodyInput<I>, CallResult<O, R>>;
  const program: Saga<I, O, CallResult<O, R>> = {
    name,
    version,
    title: options.title,
    description: options.description,
    input: options.input as I,
    output: options.output as O,
    needs: options.needs ?? [],
    task: options.task,
    annotations: options.annotations,
    ...present({
      answeredBy: options.answeredBy,
      reuse: options.reuse,
      needsStore: commitEach || undefined,
      suspends: options.suspends,
      icons: options.icons,
      _meta: options['_meta'],
    }),
    previous: options.previous ?? [],
    commitEach,
    onMismatch,
    body: checked,
  };
  // Only the type has the key of a need.
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return program as never;
}

/** Accepts any function that returns a generator. An async function cannot return a generator. */
function assertSyncBody(name: string, body: unknown): void {
  const tag = Object.prototype.toString.call(body);
  if (tag !== '[object AsyncGeneratorFunction]' && tag !== '[object AsyncFunction]') return;
  throw new AuthoringError(
    `The body of saga '${name}' is async. Write function* (input) { … }, and wait in a step: ` +
      "const order = yield* step('load', async () => …).",
    { anchor: 'bodies' },
  );
}

const clientNeeds: readonly unknown[] = [
  'elicitation',
  'elicitation.url',
  'sampling',
  'sampling.tools',
  'roots',
];

function assertServing(options: SagaOptions<Schema | undefined, Schema | undefined>): void {
  const {
    name,
    needs = [],
    answeredBy,
    task,
    reuse,
    commitEach = false,
    onMismatch,
    previous = [],
  } = options;
  assertOneOf(`reuse of saga '${name}'`, reuse, ['ok']);
  assertOneOf(`onMismatch of saga '${name}'`, onMismatch, ['fail', 'compensate']);
  if (!Array.isArray(previous) || !previous.every((older) => isProgram(older?.saga))) {
    throw new AuthoringError(
      `previous of saga '${name}' must be a list of older versions: [{ saga: old }].`,
      { anchor: 'names-and-versions' },
    );
  }
  if (commitEach && reuse === 'ok') {
    throw new AuthoringError(
      `Saga '${name}' has commitEach and reuse: 'ok': the store keeps the result of each step only if each token counts once. Remove one of the two.`,
      { anchor: 'missing-store' },
    );
  }
  if (!Array.isArray(needs) || !needs.every((need) => clientNeeds.includes(need))) {
    throw new AuthoringError(
      `The needs of saga '${name}' must be a list of ${clientNeeds.join(', ')}.`,
      { anchor: 'names-and-versions' },
    );
  }
  assertAnsweredBy(`saga '${name}'`, answeredBy);
  assertOneOf(`task of saga '${name}'`, task, ['prefer', 'require']);
  assertSuspends(options);
}

/** Rejects options of sagas that ask or wait for a saga that does neither. */
function assertSuspends({
  name,
  suspends,
  needs = [],
  answeredBy,
  task,
}: SagaOptions<Schema | undefined, Schema | undefined>): void {
  if (suspends === undefined) return;
  const given: unknown = suspends;
  if (given !== false)
    throw new AuthoringError(`suspends of saga '${name}' must be false, or undefined.`, {
      anchor: 'names-and-versions',
    });
  const excluded = { task, needs: needs.length > 0 ? needs : undefined, answeredBy };
  const [other] = Object.entries(excluded).find(([, value]) => value !== undefined) ?? [];
  if (other !== undefined)
    throw new AuthoringError(
      `Saga '${name}' has \`suspends: false\`, so \`${other}\` does not apply: it never asks and never waits. Remove one of the two.`,
      { anchor: 'names-and-versions' },
    );
}

/** Rejects the raw shape of the first MCP SDK: only a schema can parse. */
function assertSchema(
  name: string,
  option: 'input' | 'output',
  schema: Schema | LooseFields | undefined,
): void {
  if (schema === undefined || schema?.['~standard'] !== undefined) return;
  throw new AuthoringError(
    `Saga '${name}', ${option}: expected a schema. Wrap the fields in z.object({…}).`,
    { anchor: 'forms' },
  );
}
