import type { Program, Json, Schema } from '@mcp-saga/core';
import type { SagaHostOptions } from '../model/host-options.ts';
import { unfinishedField } from '../wire/result-schema.ts';
import { toJsonSchema, withoutLink } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';

interface Served {
  readonly program: Program;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

type NamedCompensator = NonNullable<SagaHostOptions['compensators']>[number];

/**
 * Sagas and compensators of a host by name. New sagas start in the newest version; older versions
 * only continue.
 */
export class Registry {
  readonly #current = new Map<string, Program>();
  readonly #versions = new Map<string, Served>();
  readonly #compensators: ReadonlyMap<string, NamedCompensator>;
  readonly #subjects = new Set<string>();

  /** @throws TypeError if two sagas have the same name, or the same version of a name */
  constructor(sagas: readonly Program[], compensators: readonly NamedCompensator[] = []) {
    this.#compensators = new Map(
      compensators.map((compensator) => [compensator.name, compensator]),
    );
    for (const saga of sagas) {
      if (this.#current.has(saga.name)) {
        throw optionError(
          `Two sagas are named '${saga.name}'. Rename a saga, or add the older version to \`previous\` of the newer one.`,
        );
      }
      assertListable(saga);
      this.#current.set(saga.name, saga);
      this.#add(saga, Number.POSITIVE_INFINITY);
      for (const { saga: older, until } of saga.previous) {
        if (older.name !== saga.name) {
          throw optionError(`'${older.name}' in \`previous\` of '${saga.name}' has another name.`);
        }
        if (servedAs(older) !== servedAs(saga)) {
          throw optionError(
            `An older version of '${saga.name}' in \`previous\` is not a ${servedAs(saga)}.`,
          );
        }
        if (Number.isNaN(until?.getTime())) {
          throw optionError(
            `The \`until\` of version '${older.version}' of '${saga.name}' is not a valid date.`,
          );
        }
        this.#add(older, until?.getTime() ?? Number.POSITIVE_INFINITY);
      }
    }
  }

  get current(): readonly Program[] {
    return [...this.#current.values()];
  }

  get all(): readonly Program[] {
    return Array.from(this.#versions.values(), ({ program }) => program);
  }

  /**
   * Returns `true` in the first call about a subject: a host warns once of each. It forgets 1,000
   * of them: step IDs may be values.
   */
  isNew(subject: string): boolean {
    if (this.#subjects.size >= 1000 && !this.#subjects.has(subject)) this.#subjects.clear();
    const { size } = this.#subjects;
    return this.#subjects.add(subject).size > size;
  }

  named(name: string): Program | undefined {
    return this.#current.get(name);
  }

  /** Returns a version of a saga, until its `until`. */
  version(name: string, version: string, now: number): Program | undefined {
    const served = this.#versions.get(keyOf(name, version));
    return served !== undefined && now < served.until ? served.program : undefined;
  }

  compensator(name: string): NamedCompensator | undefined {
    return this.#compensators.get(name);
  }

  #add(program: Program, until: number): void {
    const key = keyOf(program.name, program.version);
    if (this.#versions.has(key)) {
      throw optionError(
        `Two sagas have version '${program.version}' of '${program.name}'. Give each saga a unique version.`,
      );
    }
    this.#versions.set(key, { program, until });
  }
}

function keyOf(name: string, version: string): string {
  return JSON.stringify([name, version]);
}

/** Returns the kind of MCP feature that a program serves. */
export function servedAs({
  serves = 'tool',
}: Partial<Pick<Program, 'serves'>>): 'tool' | 'prompt' | 'resource' {
  return serves;
}

// A choice of strings has no `type`.
interface Property {
  readonly type?: Json;
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly anyOf?: readonly Property[];
  readonly oneOf?: readonly Property[];
}

/**
 * Throws TypeError unless the schemas of a program are objects. Any other schema breaks
 * `tools/list` for all tools.
 */
function assertListable({ name, input, output, serves }: Program): void {
  const listed = assertObject(name, input, 'input');
  if (listed !== undefined) assertNotReserved(name, listed);
  const returned = assertObject(name, output, 'output');
  if (returned !== undefined) assertNoUnfinished(name, returned);
  if (serves !== 'prompt' || listed === undefined) return;
  const { properties = {} } = listed as {
    readonly properties?: { readonly [name: string]: Property };
  };
  const other = Object.keys(properties).find((key) => !isText(properties[key] ?? {}));
  if (other === undefined) return;
  throw optionError(
    `Saga '${name}', input: '${other}' is not a string, but prompts only receive strings. Convert it: ` +
      'z.string().transform(…).',
  );
}

function isText({ type, enum: choices, const: only, anyOf, oneOf }: Property): boolean {
  if (type !== undefined) return type === 'string';
  if (only !== undefined) return typeof only === 'string';
  if (choices !== undefined) return choices.every((choice) => typeof choice === 'string');
  return (anyOf ?? oneOf)?.every(isText) ?? false;
}

function assertObject(
  name: string,
  schema: Schema | undefined,
  direction: 'input' | 'output',
): { readonly [key: string]: Json } | undefined {
  if (schema === undefined) return undefined;
  let written: ReturnType<typeof toJsonSchema>;
  try {
    written = toJsonSchema(schema, direction);
  } catch (error) {
    const problem =
      error instanceof Error ? withoutLink(error.message) : 'its schema cannot be read';
    throw optionError(`Saga '${name}', ${direction}: ${problem}`, { cause: error });
  }
  // A union of objects has no `type`.
  const isObject =
    written['type'] === 'object' || 'anyOf' in written || 'oneOf' in written || 'allOf' in written;
  if (!isObject)
    throw optionError(`Saga '${name}', ${direction}: wrap the schema in z.object({…}).`);
  return written;
}

type JsonSchema = { readonly [key: string]: unknown };

/**
 * Arguments that continue a call with a resume token. The argument digest of a token leaves them
 * out.
 */
const reservedArguments = ['resumeToken', 'answers'] as const;

function assertNotReserved(saga: string, schema: JsonSchema): void {
  const taken = reservedArguments.find((name) => hasField(schema, name, schema, new Set()));
  if (taken !== undefined) {
    throw optionError(
      `Saga '${saga}', input: the field '${taken}' is reserved: clients continue a call with the arguments ` +
        `${reservedArguments.join(' and ')}. Rename it.`,
    );
  }
}

/** An output with the field could be taken for the result of an unfinished call. */
function assertNoUnfinished(saga: string, schema: JsonSchema): void {
  if (!hasField(schema, unfinishedField, schema, new Set())) return;
  throw optionError(
    `Saga '${saga}', output: the field '${unfinishedField}' is reserved: it marks the result of a call that is not ` +
      'finished. Rename it.',
  );
}

function hasField(
  schema: JsonSchema,
  name: string,
  root: JsonSchema,
  seen: Set<JsonSchema>,
): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  const { properties } = schema;
  if (typeof properties === 'object' && properties !== null && Object.hasOwn(properties, name))
    return true;
  return partsOf(schema, root).some((part) => hasField(part, name, root, seen));
}

/** Returns the parts of a schema that apply to the same object. */
function partsOf(schema: JsonSchema, root: JsonSchema): readonly JsonSchema[] {
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap(
    (key) => (schema[key] ?? []) as readonly JsonSchema[],
  );
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return parts;
  const definitions = (root['$defs'] ?? {}) as { readonly [name: string]: JsonSchema };
  const referred = reference === '#' ? root : definitions[reference.replace('#/$defs/', '')];
  return referred === undefined ? parts : [...parts, referred];
}
