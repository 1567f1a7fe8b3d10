import { describe, expect, it } from 'vitest';
import { checkpoint, saga } from '../src/index.ts';

const make = (options: object) =>
  saga({ name: 'order', version: '2', ...(options as { readonly task?: 'prefer' }) }, function* () {
    yield* checkpoint();
    return 'x';
  });

describe('a saga with an async body is rejected', () => {
  it.each([
    ['an async generator', async function* () {}],
    ['an async function', async () => 'x'],
  ])('%s', (_, body) => {
    const define = (): unknown => saga({ name: 'order', version: '1' }, body as never);
    expect(define).toThrow("The body of saga 'order' is async. Write function* (input) { … }");
  });
});

describe('a saga is rejected, with a fix, for', () => {
  it.each<[object, string]>([
    [{ forks: 'deny' }, "forks of saga 'order' must be 'refuse' or 'accept', or undefined."],
    [{ forks: true }, "forks of saga 'order' must be 'refuse' or 'accept'"],
    [
      { onMismatch: 'undo' },
      "onMismatch of saga 'order' must be 'fail' or 'compensate', or undefined.",
    ],
    [
      { previous: make({}) },
      "previous of saga 'order' must be a list of older versions: [{ saga: old }].",
    ],
    [{ previous: [make({})] }, "previous of saga 'order' must be a list of older versions"],
    [{ previous: [undefined] }, "previous of saga 'order' must be a list of older versions"],
    [
      { commitEach: true, forks: 'accept' },
      "Saga 'order' has commitEach, which needs forks: 'refuse'",
    ],
    [{ needs: ['elicit'] }, "The needs of saga 'order' must be a list of elicitation,"],
    [{ modelAnswers: 'refuse' }, "modelAnswers of saga 'order' must be 'accept', or undefined."],
    [{ task: 'always' }, "task of saga 'order' must be 'prefer' or 'require', or undefined."],
  ])('%o', (options, said) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(() => make(options)).toThrow(said);
  });
});

it('a saga accepts each valid option', () => {
  for (const forks of ['refuse', 'accept', undefined]) {
    for (const onMismatch of ['fail', 'compensate', undefined]) {
      const previous = [
        { saga: make({ version: '1' }) },
        { saga: make({ version: '0' }), until: new Date(0) },
      ];
      expect(make({ forks, onMismatch, previous })).toMatchObject({
        forks,
        onMismatch: onMismatch ?? 'fail',
      });
    }
  }
});
