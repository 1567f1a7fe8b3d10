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
    [{ reuse: 'yes' }, "reuse of saga 'order' must be 'ok', or undefined."],
    [{ reuse: true }, "reuse of saga 'order' must be 'ok'"],
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
    [{ commitEach: true, reuse: 'ok' }, "Saga 'order' has commitEach and reuse: 'ok'"],
    [{ needs: ['elicit'] }, "The needs of saga 'order' must be a list of elicitation,"],
    [{ answeredBy: ['nobody'] }, "answeredBy of saga 'order' must be a list of 'client', 'model'"],
    [{ task: 'always' }, "task of saga 'order' must be 'prefer' or 'require', or undefined."],
  ])('%o', (options, said) => {
    expect(() => make(options)).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(() => make(options)).toThrow(said);
  });
});

it('a saga accepts each valid option', () => {
  for (const reuse of ['ok', undefined]) {
    for (const onMismatch of ['fail', 'compensate', undefined]) {
      const previous = [
        { saga: make({ version: '1' }) },
        { saga: make({ version: '0' }), until: new Date(0) },
      ];
      expect(make({ reuse, onMismatch, previous })).toMatchObject({
        ...(reuse && { reuse }),
        onMismatch: onMismatch ?? 'fail',
      });
    }
  }
});
