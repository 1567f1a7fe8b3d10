// #region config
import saga from '@mcp-saga/eslint-plugin';

export default [saga.configs.recommended];
// #endregion config
