/** Runs the server of an example in a separate process, and connects clients. */
export { connect } from './connect.ts';
export { type CommandOptions, type ServerProcess, startCommand } from './start-command.ts';
export { type ServerOptions, startServer } from './start-server.ts';
