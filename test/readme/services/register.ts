import { step } from '@mcp-saga/server';
// #region services
declare module '@mcp-saga/server' {
  interface Register {
    services: { readonly db: { insert(row: string): Promise<number> } };
    user: { readonly subject: string; readonly roles: readonly string[] };
    by: { readonly role: string }; // of approvals
  }
}

export const save = step('save', ({ services, user }) =>
  services.db.insert(`row of ${user?.subject ?? 'nobody'}`),
);
// #endregion services
