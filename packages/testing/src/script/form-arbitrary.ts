import * as fc from 'fast-check';
import { choicesOf, type Content, type Field, type Form } from './form-content.ts';

/**
 * Arbitrary contents of a form: each field within its bounds, optional fields sometimes absent.
 * @example
 * ```ts
 * import fc from 'fast-check';
 *
 * const form = { properties: { nights: { type: 'integer', minimum: 1 } }, required: ['nights'] } as const;
 * fc.assert(fc.property(formArbitrary(form), ({ nights }) => Number(nights) >= 1));
 * ```
 */
export function formArbitrary({ properties, required }: Form): fc.Arbitrary<Content> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, fieldArbitrary(field)]),
  );
  return fc.record(fields, {
    requiredKeys: [...required],
    noNullPrototype: true,
  }) as fc.Arbitrary<Content>;
}

function fieldArbitrary(field: Field): fc.Arbitrary<unknown> {
  const choices = choicesOf(field);
  switch (field.type) {
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.subarray([...(choices ?? [])], {
        ...(field.minItems === undefined ? {} : { minLength: field.minItems }),
        ...(field.maxItems === undefined
          ? {}
          : { maxLength: Math.min(field.maxItems, choices?.length ?? 0) }),
      });
    case 'integer':
      return fc.integer({
        min: Math.ceil(field.minimum ?? -(2 ** 31)),
        max: Math.floor(field.maximum ?? 2 ** 31 - 1),
      });
    case 'number':
      return fc.double({
        min: field.minimum ?? -1e9,
        max: field.maximum ?? 1e9,
        noNaN: true,
        noDefaultInfinity: true,
      });
    case 'string':
      return choices === undefined ? textArbitrary(field) : fc.constantFrom(...choices);
  }
}

function textArbitrary({ format, minLength = 0, maxLength }: Field): fc.Arbitrary<string> {
  if (format === undefined) return fc.string({ minLength, maxLength: maxLength ?? minLength + 20 });
  switch (format) {
    case 'email':
      // A subset of the standard: forms reject the rest.
      return fc.stringMatching(/^[a-z][a-z0-9]{0,9}@[a-z]{2,9}\.(com|org)$/);
    case 'uri':
      return fc.webUrl();
    case 'date':
      return dates().map((date) => date.toISOString().slice(0, 10));
    case 'date-time':
      return dates().map((date) => date.toISOString());
  }
}

function dates(): fc.Arbitrary<Date> {
  return fc.date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true });
}
