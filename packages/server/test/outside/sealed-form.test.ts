import { describe, expect, it } from 'vitest';
import { isForm } from '../../src/outside/tickets/sealed-form.ts';

const fields = {
  note: { type: 'string', title: 'Note', minLength: 1, maxLength: 9, format: 'email' },
  count: { type: 'integer', minimum: 0, maximum: 9, default: 3 },
  colors: {
    type: 'array',
    items: { type: 'string', enum: ['red', 'blue'] },
    minItems: 1,
    maxItems: 2,
    default: ['red'],
  },
  sure: { type: 'boolean', default: true },
};

describe('the form of a ticket', () => {
  it('is accepted with every member that a field can have', () => {
    expect(isForm({ type: 'object', properties: fields })).toBe(true);
  });

  const members = Object.entries(fields).flatMap(([name, field]) =>
    Object.keys(field).map((member) => ({ name, member, field })),
  );
  it.each(members)(
    '[T11] is refused if $member of $name is an object',
    ({ name, member, field }) => {
      const changed = { ...fields, [name]: { ...field, [member]: { toString: 1 } } };
      expect(isForm({ type: 'object', properties: changed })).toBe(false);
    },
  );
});
