import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { duration, generateKey } from '@mcp-saga/server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { connect } from '../../examples/run-server/index.ts';
import { newManifest } from '../../packages/create-mcp-saga/src/manifest.ts';
import { defaultHostLimits } from '../../packages/server/src/settings/default-limits.ts';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { root, start, type Command } from '../support/command.ts';
import { startOnFreePort } from '../support/free-port.ts';
import { describeWithRedis } from '../support/redis-server.ts';
import { read } from './markdown.ts';

const folder = 'test/docs/docker';

/** An instruction of a Dockerfile, such as `COPY` with its words. */
interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** The stages of the Dockerfile, each with its instructions. */
const stages: readonly (readonly Instruction[])[] = read(`${folder}/Dockerfile`)
  .replaceAll('\\\n', '')
  .split(/^(?=FROM )/m)
  .map((stage) =>
    stage
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const [, name = '', rest = ''] = /^([A-Z]+) +(.*)$/.exec(line) ?? [];
        return { name, rest };
      }),
  );
const [build = [], final = []] = stages;
const of = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.filter((one) => one.name === name).map(({ rest }) => rest);

interface Service {
  readonly build?: string;
  readonly command?: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly stop_grace_period?: string;
  readonly healthcheck?: object;
}
const compose = parse(read(`${folder}/compose.yaml`)) as {
  readonly services: { readonly mcp: Service; readonly redis: Service };
  readonly secrets: Readonly<Record<string, object>>;
  readonly volumes: Readonly<Record<string, object>>;
};
const { mcp, redis } = compose.services;

describe('the Dockerfile of the page', () => {
  it('has a stage that builds, and one that runs without the compiler', () => {
    expect(stages).toHaveLength(2);
    expect(of(build, 'FROM')).toEqual(['node:24-slim AS build']);
    expect(of(final, 'FROM')).toEqual(['node:24-slim']);
    expect(of(build, 'RUN').at(-1)).toBe('npm prune --omit=dev');
  });

  it('copies files of the project, and from the build what its commands have made', () => {
    const copied = of(build, 'COPY').flatMap((words) => words.split(' ').slice(0, -1));
    const template = 'packages/create-mcp-saga/templates';
    const places = [folder, `${template}/shared`, `${template}/node`];
    const made = ['package.json', 'package-lock.json'];
    for (const file of copied)
      expect(
        made.includes(file) || places.some((place) => existsSync(join(root, place, file))),
      ).toBe(true);
    const built = of(final, 'COPY').map((words) => /^--from=build \/app\/(\S+) /.exec(words)?.[1]);
    expect(built).toEqual(['package.json', 'node_modules', 'dist']);
  });

  it('runs programs of Node, of the system, and of the template', () => {
    const { devDependencies = {} } = newManifest('node', 'typescript', 'invoices', new Map());
    expect(of(build, 'RUN').map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual([
      'npm ci',
      'npx tsc',
      'npm prune',
    ]);
    expect(Object.keys(devDependencies)).toContain('typescript');
  });

  it('serves as a user without rights, and as the process that gets the signal', () => {
    const names = final.map(({ name }) => name);
    expect(of(final, 'USER')).toEqual(['node']);
    expect(names.indexOf('USER')).toBeLessThan(names.indexOf('CMD'));
    expect(JSON.parse(of(final, 'CMD')[0] ?? '')).toEqual(['node', 'dist/server.js']);
  });

  it('fills the compile cache as the user that reads it', () => {
    expect(of(final, 'ENV').join(' ')).toContain('NODE_COMPILE_CACHE=/app/cache');
    const order = final.map(({ name, rest }) => `${name} ${rest}`);
    const at = (words: string): number => order.findIndex((line) => line.startsWith(words));
    expect(at('RUN install -d -o node cache')).toBeLessThan(at('USER node'));
    expect(at('USER node')).toBeLessThan(at('RUN for file'));
  });

  it('holds no key, and copies no folder that may have one', () => {
    expect(read(`${folder}/Dockerfile`)).not.toContain('SAGA_KEYS');
    expect(of(build, 'COPY').filter((words) => /(?:^| )\.\/? /.test(words))).toEqual([]);
    const ignored = read(`${folder}/dockerignore`).trim().split('\n');
    expect(ignored).toEqual(['node_modules', '.env', Object.keys(compose.secrets)[0]]);
  });
});

describe('the compose file of the page', () => {
  it('gives the key as a secret, and the store by its name', () => {
    expect(mcp.environment).not.toHaveProperty('SAGA_KEYS');
    expect(mcp.secrets).toEqual(Object.keys(compose.secrets));
    expect(mcp.environment?.['SAGA_KEYS_FILE']).toBe('/run/secrets/saga_keys');
    expect(new URL(mcp.environment?.['REDIS_URL'] ?? '').hostname).toBe('redis');
  });

  it('publishes the port of the image, on this machine only', () => {
    expect(mcp.ports).toEqual([`127.0.0.1:3000:${of(final, 'EXPOSE')[0]}`]);
  });

  it('waits for the store, and gives a turn the time to end', () => {
    expect(mcp.depends_on).toEqual({ redis: { condition: 'service_healthy' } });
    expect(redis.healthcheck).toBeDefined();
    expect(duration((mcp.stop_grace_period ?? '') as '60s')).toBeGreaterThan(
      defaultHostLimits.turnBudget,
    );
  });

  it('keeps the data of the store in a volume', () => {
    expect(redis.volumes).toEqual([`${Object.keys(compose.volumes)[0]}:/data`]);
  });
});

describeWithRedis('the server of the page on Docker', () => {
  it('is healthy, serves a call with a store like that of the compose file, and ends on SIGTERM', async () => {
    const data = await mkdtemp(join(tmpdir(), 'mcp-saga-docker-'));
    onTestFinished(() => rm(data, { recursive: true, force: true }));
    const [program = '', ...flags] = redis.command?.split(' ') ?? [];
    const store = await startOnFreePort(async (port) => {
      const command = start(program, [...flags, '--port', String(port), '--dir', data]);
      await command.printed(/Ready to accept connections/);
      return command;
    });
    onTestFinished(() => void process.kill(store.started.pid, 'SIGKILL'));

    await bundleForNode(`${folder}/server.ts`);
    const keys = join(data, 'saga_keys');
    await writeFile(keys, `${generateKey('k1')}\n`);
    const { port, started: server } = await startOnFreePort(async (free) => {
      const command = start(process.execPath, [...runBundles, `${folder}/server.ts`], {
        ...mcp.environment,
        REDIS_URL: `redis://127.0.0.1:${store.port}`,
        SAGA_KEYS_FILE: keys,
        PUBLIC_HOST: `localhost:${free}`,
        PORT: String(free),
        NODE_ENV: 'production',
        // If it is set, srvx does not print its address.
        TEST: undefined,
      });
      await command.printed(/Listening on/);
      return command;
    });
    const check = (): Command => {
      const [health = ''] = of(final, 'HEALTHCHECK');
      const words = JSON.parse(health.slice(health.indexOf('['))) as readonly string[];
      const [file = '', ...args] = words.map((word) => word.replace(':3000/', `:${port}/`));
      return start(file, args);
    };
    expect(await check().ended).toMatchObject({ code: 0 });

    const client = await connect(new URL(`http://localhost:${port}/mcp`), { elicitation: {} });
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { confirmed: true },
    }));
    const call = { name: 'send_invoice', arguments: { customer: 'Ada', amount: 12 } };
    const { content } = await client.callTool(call);
    expect(content).toMatchObject([{ text: expect.stringMatching(/^Sent INV-[\w-]+ to Ada\.$/) }]);
    await client.close();

    process.kill(server.pid, 'SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, signal: null });
    expect(await check().ended).toMatchObject({ code: 1 });
  });
});
