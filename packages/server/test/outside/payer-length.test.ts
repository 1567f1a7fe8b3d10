import { memoryStore } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { OutsideCase, user, withoutTickets } from './case.ts';

// Beside `have one length for callers of any name, also in the link itself` in attacks.test.ts.
it('a link that holds its ticket has one length for anonymous and known callers', async () => {
  const lengths = new Set<number>();
  for (const caller of [undefined, user('ada')]) {
    const store = withoutTickets(memoryStore({ clock: () => 0 }));
    const test = new OutsideCase({ allowCaller: true }, { store });
    await test.test.host.start('refund', {}, caller === undefined ? {} : { caller });
    expect(test.url()).toMatch(/answer\/.{100}/);
    lengths.add(test.url().length);
  }
  expect([...lengths]).toEqual([[...lengths][0]]);
});
