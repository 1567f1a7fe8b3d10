import { present } from '../../values/json.ts';
import { assertKnownOptions, optionNames } from '../../values/known-options.ts';
import { AuthoringError } from '../../values/errors.ts';
import type { CheckedBody } from '../checks/checked-body.ts';
import type { NeedsForks } from '../checks/needs-forks.ts';
import type { Command, SagaBody } from '../../model/command.ts';
import type { Program } from '../../model/program.ts';
import type { ToolFields } from '../../model/tool-fields.ts';
import { saga, type SagaOptions } from './saga.ts';
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
  /** How long a client may keep it, in milliseconds (spec 2026-07-28). */
  readonly ttlMs?: number;
  /** Whether it is the same for everybody (spec 2026-07-28). */
  readonly cacheScope?: 'public' | 'private';
  readonly _meta?: { readonly [key: string]: unknown };
}

/** The arguments of a resource: the URI that is read. */
export interface ResourceArguments {
  readonly uri: string;
}

/** What the body of a resource gets: the URI, and the variables of the template, decoded. */
export type ResourceInput<T extends string> = ResourceArguments & {
  readonly [Name in UriVariables<T>]: string;
};

/** What a resource is, apart from its body. */
export interface ResourceOptions<T extends string> extends Omit<
  SagaOptions<undefined, undefined>,
  'input' | 'output' | keyof ToolFields | 'modelAnswers' | 'task'
> {
  /**
   * The URIs it answers, such as `orders://{id}`: variables without operators (RFC 6570, level 1). A variable is never
   * empty and goes no further than the next `/`, `?` or `#`. What it stands for is decoded and comes from the client:
   * it may be any text.
   */
  readonly uriTemplate: T;
  /** The MIME type of what it gives. */
  readonly mimeType?: string;
  /**
   * Completions of the template's variables, by name, as `ResourceTemplate` of the MCP SDK takes them. Every client that
   * may list the template gets them: `authorize` of the host is not asked.
   *
   * @default none
   * @example
   * ```ts
   * complete: { region: (value) => regions.filter((region) => region.startsWith(value)) }
   * ```
   */
  readonly complete?: { readonly [Name in UriVariables<T>]?: CompleteVariable };
}

/** A saga that answers `resources/read` for the URIs of a template: give it to a host. */
export interface ResourceSaga<T extends string> extends Program {
  readonly serves: 'resource';
  readonly resource: NonNullable<Program['resource']>;
  readonly input: Schema<ResourceArguments, ResourceInput<T>>;
  readonly output: undefined;
  readonly body: SagaBody<ResourceInput<T>, string | ResourceResult>;
}

const names = /* @__PURE__ */ optionNames<ResourceOptions<string>>({
  name: true,
  version: true,
  title: true,
  description: true,
  uriTemplate: true,
  mimeType: true,
  complete: true,
  forks: true,
  needs: true,
  commitFirst: true,
  commitEach: true,
  onMismatch: true,
  previous: true,
});

/**
 * Defines a resource of several steps. The body returns a text, or the contents.
 *
 * It can ask whom a tool can ask, but for the model, which reads no resources by itself; and its failures are errors,
 * because MCP has no other place for them in the answer to `resources/read`.
 *
 * @throws AuthoringError where the options cannot be meant, or the template is not of level 1
 */
export function resourceSaga<const T extends string, Y = Command<unknown>, const R = string | ResourceResult>(
  options: ResourceOptions<T> & NeedsForks<Y>,
  body: CheckedBody<ResourceInput<T>, Y, R, string | ResourceResult>,
): ResourceSaga<T> {
  assertKnownOptions('resourceSaga', Object(options).name, options, names);
  const { uriTemplate, mimeType, complete, ...rest } = options as ResourceOptions<T>;
  const template = toUriTemplate(uriTemplate);
  assertCompletions(template, complete);
  const input = inputOf<T>(template);
  // CheckedBody has judged what it yields and returns; saga() does the rest, whatever a body returns.
  const checked = body as unknown as SagaBody<ResourceInput<T>, string | ResourceResult>;
  const program = saga<typeof input>({ ...rest, input }, checked as never);
  return {
    ...program,
    serves: 'resource',
    resource: {
      template,
      ...present({ mimeType, complete }),
    },
    body: checked,
  };
}

function assertCompletions({ text, variables }: UriTemplate, complete: object = {}): void {
  for (const [name, suggest] of Object.entries(complete)) {
    if (!variables.includes(name) || typeof suggest !== 'function')
      throw new AuthoringError(
        `complete.${name}: expected a function, named after a variable of the URI template '${text}'.`,
      );
  }
}

function listed(): Record<string, unknown> {
  return { type: 'object', properties: { uri: { type: 'string' } }, required: ['uri'] };
}

/** Takes a URI apart once, at the start: what the body gets is sealed like the arguments of a tool. */
function inputOf<T extends string>(template: UriTemplate): Schema<ResourceArguments, ResourceInput<T>> {
  return {
    '~standard': {
      version: 1,
      vendor: 'mcp-saga',
      validate: (value) => {
        const { uri } = Object(value) as Partial<ResourceArguments>;
        const variables = typeof uri === 'string' ? template.match(uri) : undefined;
        if (uri === undefined || variables === undefined)
          return { issues: [{ message: `expected a URI of the form ${template.text}`, path: ['uri'] }] };
        // Every variable of the template is in it.
        return { value: { uri, ...variables } as unknown as ResourceInput<T> };
      },
      jsonSchema: { input: listed, output: listed },
    },
  };
}
