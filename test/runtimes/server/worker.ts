import { conformanceServer } from './conformance-server.ts';

/** Server for a runtime that passes keys as bindings and expects an object with `fetch`. */
export default {
  fetch: conformanceServer((env) => (env as { readonly SAGA_KEYS: string }).SAGA_KEYS),
};
