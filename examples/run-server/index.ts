/** Runs the server of an example in a process of its own, and connects clients to it. */
export { connect } from './connect.ts';
export { type CommandOptions, type ServerProcess, startCommand } from './start-command.ts';
export { type ServerOptions, startServer } from './start-server.ts';
