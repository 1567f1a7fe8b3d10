import module from 'node:module';

// Keeps compiled code on disk, which shortens the next start. Node 20 does not have this function.
Reflect.get(module, 'enableCompileCache')?.();
// Static imports would be compiled before that.
const { serve } = await import('srvx');
const { default: sagas } = await import('./api/mcp.js');

// Serves the function on this computer, on PORT or 3000, without an account.
serve({ fetch: (request) => sagas.fetch(request), hostname: '127.0.0.1' });
