// `server.ts`, and the module that `startServer` loads before `server.ts`, in one bundle.
await import('../../examples/run-server/end-with-parent.ts');
await import('../../examples/quickstart/server.ts');
