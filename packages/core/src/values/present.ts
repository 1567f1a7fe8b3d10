/** Returns the fields that have a value: a field that is absent must not be there as `undefined`. */
export function present<Fields extends object>(
  fields: Fields,
): { [name in keyof Fields]?: Exclude<Fields[name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields;
}
