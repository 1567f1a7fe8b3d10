import { checkpoint, continueAs, each, saga, step, type Saga, type Steps } from '@mcp-saga/server';
import { z } from 'zod';

interface Customer {
  readonly id: string;
  readonly email: string;
}

const customers: readonly Customer[] = ['ada', 'alan', 'grace', 'nobody'].map((id) => ({
  id,
  email: `${id}@b.example`,
}));
const crm = {
  late: async (): Promise<readonly Customer[]> => customers,
  page: async (
    after: number,
  ): Promise<{ readonly page: readonly Customer[]; readonly next: number | undefined }> => ({
    page: customers.slice(after, after + 2),
    next: after + 2 < customers.length ? after + 2 : undefined,
  }),
};
const mail = {
  send: async (to: string, _key: string): Promise<void> => {
    if (to.startsWith('nobody')) throw new Error(`Unknown: ${to}`);
  },
};

// #region each
function* remind({ email }: Customer): Steps<boolean> {
  try {
    yield* step('send', ({ idempotencyKey }) => mail.send(email, idempotencyKey), { retry: 3 });
    return true;
  } catch {
    return false; // one address must not stop the others
  }
}

export const remindAll = saga({ name: 'remind_all', version: '1' }, function* () {
  const late = yield* step('late', () => crm.late(), { reads: true });
  const sent = yield* each(late, remind, { key: ({ id }) => id, limit: 5 });
  return `Reminded ${sent.filter(Boolean).length} of ${late.length} customers.`;
});
// #endregion each

// #region tool
const From = z.object({ after: z.int().default(0), sent: z.int().default(0) });

export const remindEveryone: Saga<typeof From, undefined> = saga(
  { name: 'remind_everyone', version: '1', input: From },
  function* ({ after, sent }) {
    const { page, next } = yield* step('page', () => crm.page(after), { reads: true });
    const results = yield* each(page, remind, { key: ({ id }) => id, limit: 5 });
    const total = sent + results.filter(Boolean).length;
    if (next === undefined) return `Reminded ${total} customers.`;
    yield* checkpoint(`Reminded ${total} customers so far.`);
    return yield* continueAs(remindEveryone, { after: next, sent: total });
  },
);
// #endregion tool
