import type { Scenario } from './scenarios.ts';

/** A host from npm. */
export interface Host {
  /** Name on the command line. */
  readonly name: string;
  readonly title: string;
  /**
   * `true` if the host hides JSON Web Tokens from its model. Its servers then replace tokens with
   * handles.
   */
  readonly needsHandles?: boolean;
  /** Packages to install, with pinned versions. The first one is the host. */
  readonly packages: readonly string[];
  /** Starts the host with one prompt, in an empty home. */
  start(place: Place): Promise<Running>;
}

/** Environment of a started host. */
export interface Place {
  /** Folder of the installed packages. */
  readonly installed: string;
  /** Empty folder, used as the host's home and working directory. */
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
  /** Screen, or end of the output. */
  readonly output: string;
  /** Resolves when the host exits. */
  readonly ended: Promise<void>;
  /** Kills the host, and waits for its exit. */
  stop(): Promise<void>;
}
