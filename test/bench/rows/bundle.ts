import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { benchFolder } from '../bench-folder.ts';
import { tenthPercentile, type Effort } from '../harness.ts';
import type { Row } from '../row.ts';

/** What `core` and `seal` weigh, and how long a process that starts with them takes longer than an empty one. */
export const bundle: Row = async ({ effort }) => {
  const [alone, whole] = await Promise.all([bundled(['jose']), bundled([])]);
  return [
    { figure: 'bundle-size', ours: gzipSync(alone, { level: 9 }).length, peers: [] },
    // With jose, since that is what is imported.
    { figure: 'import-time', ours: importMs(whole, effort), peers: [] },
  ];
};

async function bundled(external: readonly string[]): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export * from '@mcp-saga/core'; export * from '@mcp-saga/seal';`,
      resolveDir: benchFolder(),
      loader: 'ts',
    },
    external: [...external],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

function importMs(code: Uint8Array, { rounds }: Effort): number {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-bench-'));
  try {
    const [empty, importing] = ['empty.mjs', 'importing.mjs'].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    writeFileSync(join(folder, 'saga.mjs'), code);
    writeFileSync(empty, '');
    writeFileSync(importing, `import './saga.mjs';`);
    const [without, once]: number[][] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      without?.push(processMs(empty));
      once?.push(processMs(importing));
    }
    return tenthPercentile(once ?? []) - tenthPercentile(without ?? []);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function processMs(file: string): number {
  const start = performance.now();
  const { status } = spawnSync(process.execPath, [file], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The bundle cannot be imported');
  return performance.now() - start;
}
