import { conformanceServer } from './conformance-server.ts';

/** The server for a runtime whose keys are bindings and which takes an object with `fetch`. */
export default {
  fetch: conformanceServer((env) => (env as { readonly SAGA_KEYS: string }).SAGA_KEYS),
};
