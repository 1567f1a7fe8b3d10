import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';
import { ask } from './wire.ts';

const extension = 'io.github.mcp-saga/saga';

/** Tests the server before any saga runs. */
export function startSuite(subject: Subject): void {
  const { runner } = subject;

  describe('the server', () => {
    it('runs on the intended version', async () => {
      const { stdout } = await promisify(execFile)(await runner.executable(), [runner.versionFlag]);
      expect(stdout).toContain(runner.versionSaid);
    });

    it.each(['2026-07-28', '2025-11-25'] as const)(
      '[P1] lists its tools to clients of %s',
      async (era) => {
        const { result } = await ask(subject.mcp(), 'tools/list', {}, { era });
        const tools = result?.['tools'] as readonly {
          readonly name: string;
          readonly _meta: object;
        }[];
        expect(tools.map(({ name }) => name)).toEqual(['order', 'relay', 'ballast', 'ticket']);
        for (const { _meta: meta } of tools) expect(meta).toHaveProperty([extension]);
      },
    );

    it('[P1] announces its methods', async () => {
      const { result } = await ask(subject.mcp(), 'server/discover', {});
      expect(result).toMatchObject({
        capabilities: {
          extensions: {
            [extension]: { methods: ['tools/callSaga', 'tools/resumeSaga', 'tools/cancelSaga'] },
            'io.modelcontextprotocol/tasks': {},
          },
        },
      });
    });

    it(`[P1] [T1] seals by the ${runner.sealing} path by default`, async () => {
      const response = await fetch(subject.mcp({ sealing: 'fast' }));
      if (runner.sealing === 'fast') expect(response.status).not.toBe(500);
      else expect(await response.json()).toEqual({ code: 'unsupported' });
    });
  });
}
