const NAME = /^[\w$]{1,64}$/;

/** The name of the class of a value, as its code has it: nothing that the value says of itself, and no accessor, is asked. */
export function classNameOf(value: object): string | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  const made: unknown = ownValue(prototype, 'constructor');
  const name = typeof made === 'function' ? ownValue(made, 'name') : undefined;
  return typeof name === 'string' && NAME.test(name) ? name : undefined;
}

function ownValue(of: unknown, key: string): unknown {
  return Object.getOwnPropertyDescriptor(Object(of), key)?.value;
}
