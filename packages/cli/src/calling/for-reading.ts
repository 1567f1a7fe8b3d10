import { textForPeople } from '@mcp-saga/core/shared';

/** Members that a person reads. All other members are values, which stay as they are. */
const readMembers: readonly string[] = ['message', 'title', 'description', 'text'];

/**
 * Returns a step or a field for a person: characters that nobody sees are shown as escapes. A
 * default of the server with such characters is dropped, because the person would confirm a value
 * that is not the one on the screen.
 */
export function forReading<T extends object>(shown: T): T {
  return JSON.parse(JSON.stringify(shown), (name, value: unknown) => {
    if (typeof value !== 'string') return value;
    if (readMembers.includes(name)) return textForPeople(value);
    return name === 'default' && textForPeople(value) !== value ? undefined : value;
  }) as T;
}
