// Oxlint loads this file: Node 20 does not load TypeScript.
import { tsImport } from 'tsx/esm/api';

/** @type {{ default: unknown }} */
const { default: plugin } = await tsImport('../../src/index.ts', import.meta.url);

export default plugin;
