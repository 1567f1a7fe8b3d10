import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { benchFolder } from '../bench-folder.ts';
import { medianOf, type Effort, type Timing } from '../harness.ts';
import type { Row } from '../row.ts';

/**
 * Sizes of bundles, and the processor time that an import of the server adds to the start of a
 * process.
 */
export const bundle: Row = async ({ effort }) => {
  const core = ['@mcp-saga/core', '@mcp-saga/seal'];
  const server = ['@mcp-saga/server', '@mcp-saga/server/serve'];
  const [small, whole, imported] = await Promise.all([
    bundled(core, ['jose']),
    bundled(server, ['jose', '@modelcontextprotocol/server']),
    bundled(['@mcp-saga/server'], []),
  ]);
  const { cpu, wall } = importTime(imported, effort);
  return [
    { figure: 'bundle-size', ours: gzipSync(small, { level: 9 }).length, peers: [] },
    { figure: 'bundle-size-server', ours: gzipSync(whole, { level: 9 }).length, peers: [] },
    // Includes the import of jose.
    { figure: 'import-time', ours: cpu / 1000, wall: wall / 1000, peers: [] },
  ];
};

async function bundled(
  modules: readonly string[],
  external: readonly string[],
): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: {
      contents: modules.map((name) => `export * from '${name}';`).join('\n'),
      resolveDir: benchFolder(),
      loader: 'ts',
    },
    external: [...external],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

/** Processor time of a process that imports a bundle, minus that of an empty process. */
function importTime(code: Uint8Array, { rounds }: Effort): Timing {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-bench-'));
  try {
    writeFileSync(join(folder, 'saga.mjs'), code);
    writeFileSync(join(folder, 'empty.mjs'), report);
    writeFileSync(join(folder, 'importing.mjs'), `import './saga.mjs';\n${report}`);
    const [without, once]: [Timing[], Timing[]] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      without.push(timesOf(join(folder, 'empty.mjs')));
      once.push(timesOf(join(folder, 'importing.mjs')));
    }
    const [empty, importing] = [medianOf(without), medianOf(once)];
    return { cpu: importing.cpu - empty.cpu, wall: importing.wall - empty.wall };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const report = `console.log(JSON.stringify(process.cpuUsage()));\n`;

function timesOf(file: string): Timing {
  const start = performance.now();
  const { status, stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
  if (status !== 0) throw new Error('The bundle cannot be imported');
  const { user, system } = JSON.parse(stdout) as NodeJS.CpuUsage;
  return { cpu: user + system, wall: (performance.now() - start) * 1000 };
}
