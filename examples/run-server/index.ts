/** Runs the `server.ts` of an example in a process of its own, and connects clients to it. */
export { connect } from './connect.ts';
export { startServer, type ServerProcess, type ServerProcessOptions } from './server-process.ts';
