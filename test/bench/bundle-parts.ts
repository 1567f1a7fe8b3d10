/**
 * Prints the largest parts of the bundled server: `npx tsx test/bench/bundle-parts.ts`. Texts of
 * errors count where they are thrown.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { benchFolder } from './bench-folder.ts';

const { metafile, outputFiles } = await build({
  stdin: {
    contents: "export * from '@mcp-saga/server';\nexport * from '@mcp-saga/server/serve';",
    resolveDir: benchFolder(),
    loader: 'ts',
  },
  external: ['jose', '@modelcontextprotocol/server'],
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'node',
  target: 'es2023',
  write: false,
  metafile: true,
  logLevel: 'error',
});
const code = outputFiles[0]?.contents ?? new Uint8Array();
const gzipped = gzipSync(code, { level: 9 }).length;
const parts = new Map<string, number>();
for (const { inputs } of Object.values(metafile.outputs)) {
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const [, name = 'other'] = /packages\/(\w+\/src(?:\/[\w-]+(?=\/))?)/.exec(file) ?? [];
    parts.set(name, (parts.get(name) ?? 0) + bytesInOutput);
  }
}
for (const [name, bytes] of [...parts].toSorted(([, one], [, other]) => other - one))
  console.log(
    `${name}: ${bytes} bytes, ${((bytes / code.length) * (gzipped / 1000)).toFixed(1)} kB of gzip`,
  );
console.log(`all: ${code.length} bytes, ${(gzipped / 1000).toFixed(1)} kB of gzip`);
