// #region serve
import { serveSagas } from '@mcp-saga/server/serve';
import { deploy } from './deploy.ts';

export default serveSagas({ name: 'deployer', version: '1.0.0', sagas: [deploy] });
// #endregion serve
