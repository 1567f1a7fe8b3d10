import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../../support/free-port.ts';

/** A Restate server of one test. */
export interface RestateServer {
  /** Registers the services of an endpoint. */
  readonly register: (endpointPort: number) => Promise<void>;
  /** Calls a handler of a workflow. Returns its result. */
  readonly call: (path: string, body?: unknown) => Promise<unknown>;
  /** Waits for the end of a workflow. Returns its result. */
  readonly resultOf: (path: string) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

async function read(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text === '' ? undefined : JSON.parse(text);
}

/** The package with the server of this platform. */
export const serverPackage: string = `@restatedev/restate-server-${process.platform}-${process.arch}`;

/** Starts a Restate server on free ports of 127.0.0.1, with a folder of its own. */
export async function startRestate(executable: string): Promise<RestateServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-restate-'));
  const [ingress, admin, node] = [await freePort(), await freePort(), await freePort()];
  const child = spawn(executable, ['--no-logo', '--listen-mode', 'tcp', '--base-dir', folder], {
    env: {
      ...process.env,
      RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
      RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
      RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    },
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  const send = async (port: number, path: string, body?: unknown): Promise<Response> =>
    await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const isUp = async (port: number, path: string): Promise<boolean> =>
    await fetch(`http://127.0.0.1:${port}${path}`).then(
      ({ ok }) => ok,
      () => false,
    );
  await expect.poll(() => isUp(admin, '/health')).toBe(true);
  await expect.poll(() => isUp(ingress, '/restate/health')).toBe(true);
  return {
    register: async (port) => {
      const response = await send(admin, '/deployments', { uri: `http://127.0.0.1:${port}` });
      await read(response);
    },
    call: async (path, body) => read(await send(ingress, path, body)),
    resultOf: async (path) => read(await fetch(`http://127.0.0.1:${ingress}${path}`)),
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}
