import { step } from '@mcp-saga/server';
// #region context
declare module '@mcp-saga/server' {
  interface Register {
    context: { readonly db: { insert(row: string): Promise<number> } };
  }
}

export const save = step('save', ({ context }) => context.db.insert('row'));
// #endregion context
