import type { Program } from '@mcp-saga/core';
import type { SagaHostOptions } from '../model/host-options.ts';
import { assertListable } from './check-saga.ts';

interface Served {
  readonly program: Program;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

type NamedCompensator = NonNullable<SagaHostOptions['compensators']>[number];

/** The sagas and compensators of a host, by their names. Only the newest version of a saga is started; older versions continue. */
export class Registry {
  readonly #current = new Map<string, Program>();
  readonly #versions = new Map<string, Served>();
  readonly #compensators: ReadonlyMap<string, NamedCompensator>;

  /** @throws TypeError when two have one name, or one version of a name */
  constructor(sagas: readonly Program[], compensators: readonly NamedCompensator[] = []) {
    this.#compensators = new Map(compensators.map((compensator) => [compensator.name, compensator]));
    for (const saga of sagas) {
      if (this.#current.has(saga.name)) {
        throw new TypeError(
          `Two sagas are named '${saga.name}'. A token is bound to a name: rename one of them. An older version goes ` +
            'into `previous` of the newer one.',
        );
      }
      assertListable(saga);
      this.#current.set(saga.name, saga);
      this.#add(saga, Number.POSITIVE_INFINITY);
      for (const { saga: older, until } of saga.previous) {
        if (older.name !== saga.name) {
          throw new TypeError(`'${older.name}' is no older version of '${saga.name}': it has another name.`);
        }
        if (servedAs(older) !== servedAs(saga)) {
          throw new TypeError(
            `'${older.name}' is no older version of '${saga.name}': it serves something else.`,
          );
        }
        if (Number.isNaN(until?.getTime())) {
          throw new TypeError(
            `The \`until\` of version '${older.version}' of '${saga.name}' is not a valid date.`,
          );
        }
        this.#add(older, until?.getTime() ?? Number.POSITIVE_INFINITY);
      }
    }
  }

  /** The sagas that can be started. */
  get current(): readonly Program[] {
    return [...this.#current.values()];
  }

  /** Every version of every saga. */
  get all(): readonly Program[] {
    return Array.from(this.#versions.values(), ({ program }) => program);
  }

  /** The saga that is started under a name. */
  named(name: string): Program | undefined {
    return this.#current.get(name);
  }

  /** The version of a saga that a token names, if it still goes on. */
  version(name: string, version: string, now: number): Program | undefined {
    const served = this.#versions.get(keyOf(name, version));
    return served !== undefined && now < served.until ? served.program : undefined;
  }

  /** The compensator of a name. */
  compensator(name: string): NamedCompensator | undefined {
    return this.#compensators.get(name);
  }

  #add(program: Program, until: number): void {
    const key = keyOf(program.name, program.version);
    if (this.#versions.has(key)) {
      throw new TypeError(
        `Two sagas are version '${program.version}' of '${program.name}'. Give each its own.`,
      );
    }
    this.#versions.set(key, { program, until });
  }
}

function keyOf(name: string, version: string): string {
  return JSON.stringify([name, version]);
}

/** What of MCP's a program serves. */
export function servedAs({
  serves = 'tool',
}: Partial<Pick<Program, 'serves'>>): 'tool' | 'prompt' | 'resource' {
  return serves;
}
