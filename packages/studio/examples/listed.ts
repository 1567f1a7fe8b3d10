/** Example of the playground. */
export interface Listed {
  readonly name: string;
  readonly title: string;
  /** Paths in the repository, by the name of the file in the editor. */
  readonly files: Readonly<Record<string, string>>;
}

/** Example of a guide: its file of the docs, with a script. */
function guide(name: string, title: string): Listed {
  return {
    name,
    title,
    files: {
      [`${name}.ts`]: `test/docs/guides/${name}.ts`,
      'script.ts': `packages/studio/examples/${name}/script.ts`,
    },
  };
}

/** Files that the tests of the repository run, too. */
export const listed: readonly Listed[] = [
  {
    name: 'refund',
    title: 'Refund an order',
    files: {
      'refund.ts': 'test/docs/tutorial/undo/refund.ts',
      'bank.ts': 'test/docs/tutorial/bank.ts',
      'script.ts': 'packages/studio/examples/refund/script.ts',
    },
  },
  {
    name: 'manager',
    title: 'Wait for a manager',
    files: {
      'refund.ts': 'test/docs/tutorial/decide/refund.ts',
      'bank.ts': 'test/docs/tutorial/bank.ts',
      'script.ts': 'packages/studio/examples/manager/script.ts',
    },
  },
  {
    name: 'trip',
    title: 'Book a trip',
    files: {
      'saga.ts': 'examples/book-trip/saga.ts',
      'agency.ts': 'examples/book-trip/agency.ts',
      'script.ts': 'packages/studio/examples/trip/script.ts',
    },
  },
  guide('approvals', 'Ask another person'),
  guide('webhooks', 'Wait for a webhook'),
  guide('confirm', 'Confirm a delete'),
  guide('payments', 'Charge and ship'),
  guide('parallel', 'Ask two questions at once'),
  guide('paging', 'Read page by page'),
];

/** Returns the name of the example whose saga is in a file of the repository; undefined if there is none. */
export function exampleWith(path: string): string | undefined {
  return listed.find(({ files }) => Object.values(files)[0] === path)?.name;
}
