import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MatrixClient } from './matrix-client.ts';
import { sdkClients } from './sdk-clients.ts';
import { rawClients } from './raw-clients.ts';
import { startWorld, type World } from './world.ts';

const deploy = { name: 'complex_tool', arguments: { initial_arg: 'value' } };
const provision = { name: 'provision', arguments: { size: 'small' } };
const suffix = ', by the SDK';
const text = 'Yes, all systems are green.';
const accepted = (content: { readonly [field: string]: string | boolean }) => ({
  form: { action: 'accept', content } as const,
  text,
});

const all = [...sdkClients, ...rawClients];

/** The same clients of stateless servers, on a server that uses only the SDK's handler. */
const bySdk = all
  .filter(({ name }) => name.endsWith('http in turns'))
  .map((client): MatrixClient => {
    const call: MatrixClient['call'] = (world, ...more) => {
      const [a, b] = world.urls.map((url) => new URL('/by-sdk', url)) as [URL, URL];
      return client.call({ ...world, urls: [a, b] }, ...more);
    };
    return { name: `${client.name}${suffix}`, call };
  });

describe('one saga, every client', () => {
  const results = new Map<string, unknown>();
  /**
   * Compares a result with that of the SDK for the same client, without values that differ between
   * machines.
   */
  const expectSame = (name: string, tool: string, result: unknown): void => {
    const masked = JSON.stringify(result).replaceAll(/\d+/g, '');
    const key = `${name.replace(suffix, '')} ${tool}`;
    expect(masked).toBe(results.get(key) ?? masked);
    results.set(key, masked);
  };

  let world: World;
  beforeAll(async () => {
    world = await startWorld();
  });
  afterAll(async () => {
    await world.stop();
  });

  describe.each([...all, ...bySdk])('$name', (client) => {
    it('[W1] [P2] completes the quickstart, and deploys once', async () => {
      const before = world.ran.filter((id) => id === 'deploy').length;
      const result = await client.call(world, deploy, accepted({ target: 'production' }));
      expect(result).toMatchObject({
        content: [
          {
            type: 'text',
            text: 'Deployment to production initiated successfully based on confirmation.',
          },
        ],
      });
      expect(result).not.toHaveProperty('isError');
      expectSame(client.name, 'deploys', result);
      // Notifications about undos of an earlier call may arrive late.
      const deployed = (): number => world.ran.filter((id) => id === 'deploy').length - before;
      await expect.poll(deployed).toBe(1);
    });

    it('[W1] [E1] provisions a machine once', async () => {
      const { created, machines } = world.cloud;
      const running = machines.size;
      const result = await client.call(world, provision, accepted({ keep: true }));
      expectSame(client.name, 'keeps', result);
      expect(textOf(result)).toMatch(/^machine-\d+ is yours, at 10\.0\.0\.\d+\.$/);
      expect(world.cloud.created).toBe(created + 1);
      expect(world.cloud.machines.size).toBe(running + 1);
    });

    it('[W1] [E3] removes the machine again when the user declines', async () => {
      const { created, machines } = world.cloud;
      const running = machines.size;
      const result = await client.call(world, provision, { form: { action: 'decline' }, text });
      expect(result).toMatchObject({ isError: true });
      expectSame(client.name, 'declines', result);
      expect(textOf(result)).toMatch(/Undone: 'create' \(the machine\)\.$/);
      expect(world.cloud.created).toBe(created + 1);
      expect(world.cloud.machines.size).toBe(running);
    });
  });
});

function textOf(result: unknown): string {
  const { content } = result as { readonly content: readonly { readonly text: string }[] };
  return content.map((block) => block.text).join('');
}
