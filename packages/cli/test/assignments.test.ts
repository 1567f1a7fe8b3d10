import { describe, expect, it } from 'vitest';
import { fitted, readAssignments } from '../src/input/assignments.ts';

describe('a value of an option', () => {
  it.each([
    [{ type: 'string' }, '1e3', '1e3'],
    [{ type: 'string' }, '"1e3"', '1e3'],
    [{ type: ['string', 'null'] }, 'null', null],
    [{ type: ['string', 'null'] }, '12', '12'],
    [{ type: ['string', 'integer'] }, '12', 12],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, '12', '12'],
    [{ oneOf: [{ type: 'string' }, { type: 'array' }] }, '[1]', [1]],
    [{ enum: ['1', '2'] }, '1', '1'],
    [{ enum: [1, 2] }, '1', 1],
    [{ type: 'number' }, 'text', 'text'],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
    [{ anyOf: null }, '12', 12],
    [undefined, '12', 12],
  ])('is read in the type of the schema %j: %s', (schema, text, value) => {
    expect(fitted(schema, text)).toEqual(value);
  });

  it('ends at the end of the text, and its name at the first equals sign', () => {
    expect([...readAssignments('arg', ['a=b=c\nd', 'e='])]).toEqual([
      ['a', 'b=c\nd'],
      ['e', ''],
    ]);
  });
});
