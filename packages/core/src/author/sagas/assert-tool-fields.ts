import { AuthoringError } from '../../values/errors.ts';
import { assertJson, isPlainObject } from '../../values/json.ts';
import type { ToolFields } from '../../model/tool-fields.ts';

/**
 * Checks the listed fields of a tool: a value other than JSON would break `tools/list` for all
 * tools. Throws AuthoringError.
 */
export function assertToolFields(name: string, fields: ToolFields): void {
  const { icons } = fields;
  for (const field of ['annotations', '_meta'] as const) {
    const value = fields[field];
    if (value === undefined) continue;
    if (!isPlainObject(value))
      throw new AuthoringError(`${field} of saga '${name}' must be an object.`, {
        anchor: 'names-and-versions',
      });
    assertJson(value, { where: `${field} of saga '${name}'` });
  }
  if (icons !== undefined && !(Array.isArray(icons) && icons.every(isIcon))) {
    throw new AuthoringError(
      `icons of saga '${name}' must be a list of icons: [{ src: 'https://…' }].`,
      { anchor: 'names-and-versions' },
    );
  }
}

function isIcon(icon: unknown): boolean {
  return isPlainObject(icon) && typeof icon['src'] === 'string';
}
