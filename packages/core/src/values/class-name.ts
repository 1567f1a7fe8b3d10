const NAME = /^[\w$]{1,64}$/;

/** Name of the class of a value, by its prototype. Calls no accessor and trusts no own property. */
export function classNameOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const made: unknown = ownValue(prototype, 'constructor');
  const name = typeof made === 'function' ? ownValue(made, 'name') : undefined;
  return typeof name === 'string' && NAME.test(name) ? name : undefined;
}

function ownValue(of: unknown, key: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(of), key)?.value;
}
