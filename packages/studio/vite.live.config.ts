import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/** Builds the pages of `mcp-saga dev` into the package of the command line. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: false,
  build: {
    outDir: '../cli/page',
    emptyOutDir: true,
    modulePreload: false,
    target: 'es2023',
    rolldownOptions: {
      input: ['live.html', 'playground.html'],
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        assetFileNames: '[name].[ext]',
      },
    },
  },
});
