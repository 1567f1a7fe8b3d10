import { present } from '../../values/json.ts';
import { assertKnownOptions } from '../../values/known-options.ts';
import type { NamesOf } from '../../values/unknown-option.ts';
import { AuthoringError } from '../../values/errors.ts';
import type { CheckedBody } from '../checks/checked-body.ts';
import type { StoreNeed, StoreOptions } from '../checks/yielded-commands.ts';
import type { Command, SagaBody } from '../../model/command.ts';
import type { Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import { saga, sharedNames, type SagaOptions } from './saga.ts';
import type { Schema } from '../../values/standard-schema.ts';
import {
  toUriTemplate,
  type CompleteVariable,
  type UriTemplate,
  type UriVariables,
} from '../../values/uri-template.ts';

/** The contents of a resource, as MCP has them: a text, or bytes in base64. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly text?: string;
  readonly blob?: string;
  readonly _meta?: { readonly [key: string]: unknown };
}

/** A resource that was read, as MCP has it: `ReadResourceResult`. */
export interface ResourceResult {
  readonly contents: readonly ResourceContents[];
  /** Time for which a client may cache the contents, in milliseconds (spec 2026-07-28). */
  readonly ttlMs?: number;
  /** `public` if the contents are the same for all users (spec 2026-07-28). */
  readonly cacheScope?: 'public' | 'private';
  readonly _meta?: { readonly [key: string]: unknown };
}

/** The arguments of a resource: the URI that is read. */
export interface ResourceArguments {
  readonly uri: string;
}

/** Input of a resource's body: the URI, and the decoded variables of the template. */
export type ResourceInput<T extends string> = ResourceArguments & {
  readonly [Name in UriVariables<T>]: string;
};

/** Options of a resource saga. */
export interface ResourceOptions<T extends string> extends Omit<
  SagaOptions<undefined, undefined>,
  'input' | 'output' | keyof ToolFields | 'answeredBy' | 'task' | 'suspends'
> {
  /**
   * URIs of the resource, such as `orders://{id}`: variables without operators (RFC 6570, level 1).
   * A variable is not empty and ends at the next `/`, `?`, or `#`. The decoded value comes from the
   * client and may be any text.
   */
  readonly uriTemplate: T;
  /** MIME type of the contents. */
  readonly mimeType?: string;
  /**
   * Completions of the variables by name, as for `ResourceTemplate` of the MCP SDK. Every client
   * that may list the template gets the completions: `authorize` of the host is not called.
   * @default none
   * @example
   * ```ts
   * complete: { region: (value) => regions.filter((region) => region.startsWith(value)) }
   * ```
   */
  readonly complete?: { readonly [Name in UriVariables<T>]?: CompleteVariable };
}

/** A saga that answers `resources/read` for the URIs of a template. Pass it to a host. */
export interface ResourceSaga<T extends string> extends Program {
  readonly serves: 'resource';
  readonly resource: NonNullable<Program['resource']>;
  readonly input: Schema<ResourceArguments, ResourceInput<T>>;
  readonly output: undefined;
  readonly body: SagaBody<ResourceInput<T>, string | ResourceResult>;
}

const names: NamesOf<ResourceOptions<string>> = {
  ...sharedNames,
  uriTemplate: true,
  mimeType: true,
  complete: true,
};

/**
 * Defines a resource of several steps. The body returns a text, or the contents.
 *
 * The body can ask the client like a tool, but the model cannot answer. Failures become errors of
 * `resources/read`.
 * @throws AuthoringError for options that contradict each other or do not exist, or if the template
 * is not of level 1
 * @example
 * ```ts
 * const options = { name: 'note', version: '1', uriTemplate: 'note://{id}' } as const;
 * const note = resourceSaga(options, function* ({ id }) {
 *   return yield* step('read', async (): Promise<string> => db.note(id));
 * });
 * ```
 */
export function resourceSaga<
  const T extends string,
  Y = Command<unknown>,
  const R = string | ResourceResult,
  Reuse extends 'ok' | undefined = undefined,
  CommitEach extends boolean | undefined = false,
>(
  options: ResourceOptions<T> & StoreOptions<Reuse, CommitEach>,
  body: CheckedBody<ResourceInput<T>, Y, R, string | ResourceResult>,
): ResourceSaga<T> & StoreNeed<Y, Reuse, CommitEach> {
  assertKnownOptions('resourceSaga', Object(options).name, options, names);
  const { uriTemplate, mimeType, complete, ...rest } = options as ResourceOptions<T>;
  const template = toUriTemplate(uriTemplate);
  assertCompletions(template, complete);
  const input = inputOf<T>(template);
  // CheckedBody has checked the yields and the result.
  const checked = body as unknown as SagaBody<ResourceInput<T>, string | ResourceResult>;
  const program = saga<typeof input>({ ...rest, input } as never, checked as never);
  const resource: ResourceSaga<T> = {
    ...program,
    serves: 'resource',
    resource: { template, ...present({ mimeType, complete }) },
    body: checked,
  };
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return resource as typeof resource & StoreNeed<Y, Reuse, CommitEach>;
}

function assertCompletions({ text, variables }: UriTemplate, complete: object = {}): void {
  for (const [name, suggest] of Object.entries(complete)) {
    if (!variables.includes(name) || typeof suggest !== 'function')
      throw new AuthoringError(
        `complete.${name}: expected a function, named after a variable of the URI template '${text}'.`,
        { anchor: 'names-and-versions' },
      );
  }
}

function listed(): Record<string, unknown> {
  return { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] };
}

/**
 * Input schema: parses a URI once, at the start. The variables are sealed like the arguments of a
 * tool.
 */
function inputOf<T extends string>(
  template: UriTemplate,
): Schema<ResourceArguments, ResourceInput<T>> {
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp-saga',
      validate: (value) => {
        const { uri } = Object(value) as Partial<ResourceArguments>;
        const variables = typeof uri === 'string' ? template.match(uri) : undefined;
        if (uri === undefined || variables === undefined)
          return {
            issues: [{ message: `expected a URI of the form ${template.text}`, path: ['uri'] }],
          };
        // Contains every variable of the template.
        return { value: { uri, ...variables } as unknown as ResourceInput<T> };
      },
      jsonSchema: { input: listed, output: listed },
    },
  };
}
