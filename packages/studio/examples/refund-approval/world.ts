import { Provider } from '@mcp-saga/testing';

/** Held amounts in cents, payments, and mails. */
export const holds: Provider<number> = new Provider();
export const payments: Provider<string> = new Provider();
export const mails: Provider<string> = new Provider();

/** Fakes of the bank and of the mail server in the repository, which honor idempotency keys. */
export const bank = {
  hold: async (
    cents: number,
    key: string,
    _signal: AbortSignal,
  ): Promise<{ readonly hold: string }> => {
    holds.do(key, cents);
    return { hold: key };
  },
  release: async (hold: string, _key: string, _signal: AbortSignal): Promise<void> =>
    holds.undo(hold),
  pay: async (hold: string, key: string, _signal: AbortSignal): Promise<string> =>
    payments.do(key, hold),
};
export const outbox = {
  send: async (
    mail: { readonly text: string },
    key: string,
    _signal: AbortSignal,
  ): Promise<string> => mails.do(key, mail.text),
};
