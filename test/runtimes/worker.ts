import { serveSagas } from '@mcp-saga/server/serve';
import { complexTool } from '../../examples/quickstart/saga.ts';

/** The quickstart for a runtime whose keys are bindings and which takes an object with `fetch`. */
export default serveSagas({
  name: 'quickstart',
  version: '1.0.0',
  sagas: [complexTool],
  keys: (env) => (env as { readonly SAGA_KEYS: string }).SAGA_KEYS,
});
