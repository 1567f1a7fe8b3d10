import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/**
 * Builds the engine of `mcp-saga dev`, which runs in Node, beside its pages. Run it after the build
 * of the pages.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  publicDir: false,
  build: {
    outDir: '../cli/page',
    emptyOutDir: false,
    target: 'node20',
    minify: false,
    ssr: 'src/dev/engine.ts',
    rolldownOptions: {
      // The packages beside the command line, not copies of them.
      external: /^(?:@mcp-saga\/|tsx\/)/,
      output: { entryFileNames: 'engine.js', chunkFileNames: '[name].js' },
    },
  },
  ssr: { noExternal: ['mcp-saga'] },
});
