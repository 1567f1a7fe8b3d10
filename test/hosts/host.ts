import type { Scenario } from './scenarios.ts';

/** A host from npm. */
export interface Host {
  /** Name on the command line. */
  readonly name: string;
  readonly title: string;
  /** `true` if the host hides from its model what looks like a JSON Web Token. Its servers then replace tokens by handles. */
  readonly needsHandles?: boolean;
  /** Packages to install, the host's first, with pinned versions. */
  readonly packages: readonly string[];
  /** Starts the host with one prompt, in an empty home. */
  start(place: Place): Promise<Running>;
}

/** Surroundings of a started host. */
export interface Place {
  /** Folder of the installed packages. */
  readonly installed: string;
  /** Empty folder, which is the host's home and working directory. */
  readonly home: string;
  /** URL of the MCP server. */
  readonly serverUrl: string;
  /** Base URL of the scripted model, without a path. */
  readonly modelUrl: string;
  readonly scenario: Scenario;
  readonly prompt: string;
  /** Returns `true` once the host has listed the tools of the MCP server. */
  readonly isListed: () => boolean;
}

/** A running host. */
export interface Running {
  /** Screen, or last part of the output. */
  readonly output: string;
  /** Resolves when the host exits. */
  readonly ended: Promise<void>;
  /** Kills the host, and waits for its exit. */
  stop(): Promise<void>;
}
