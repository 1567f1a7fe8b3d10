/**
 * Makes the error for a wrong option or argument, with the code `invalid_option`, and a link to its
 * documentation.
 */
export function optionError(
  message: string,
  { type = TypeError }: { readonly type?: TypeErrorConstructor | RangeErrorConstructor } = {},
): TypeError {
  const code = 'invalid_option';
  return Object.assign(new type(`${message}\nSee docs/reference/errors.md#${code}`), { code });
}
