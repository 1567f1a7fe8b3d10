import type { Scenario } from './scenarios.ts';

/** A host that is installed from npm. */
export interface Host {
  /** Name on the command line. */
  readonly name: string;
  readonly title: string;
  /** Packages to install, the host's first, with pinned versions. */
  readonly packages: readonly string[];
  /** Starts the host with one prompt, in an empty home. */
  start(place: Place): Promise<Running>;
}

/** The surroundings of a host that is started. */
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
  /** `true` once the host has asked the MCP server for its tools. */
  isListed(): boolean;
}

/** A host that runs. */
export interface Running {
  /** The last part of its output, or its screen. */
  readonly output: string;
  /** Resolves when the host ends by itself. */
  readonly ended: Promise<void>;
  /** Ends it, and waits for that. */
  stop(): Promise<void>;
}
