interface Details {
  readonly code?: 'invalid_option' | 'unknown_option';
  readonly type?: TypeErrorConstructor | RangeErrorConstructor;
}

/** Makes the error for a wrong option or argument, with a code, and a link to its documentation. */
export function optionError(
  message: string,
  { code = 'invalid_option', type = TypeError }: Details = {},
): TypeError {
  return Object.assign(new type(`${message}\nSee docs/reference/errors.md#${code}`), { code });
}
