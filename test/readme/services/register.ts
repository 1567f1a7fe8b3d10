import { step } from '@mcp-saga/server';
// #region services
declare module '@mcp-saga/server' {
  interface Register {
    services: { readonly db: { insert(row: string): Promise<number> } };
  }
}

export const save = step('save', ({ services }) => services.db.insert('row'));
// #endregion services
