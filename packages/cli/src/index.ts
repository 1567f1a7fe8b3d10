/** The command line for multi-step MCP tools. */
export { main, type CommandLine } from './main.ts';
