// @ts-check
import { readFileSync } from 'node:fs';
import { Application, Converter, ReflectionKind } from 'typedoc';

const packages = new URL('../../packages/', import.meta.url);

const packageNames = /** @type {string[]} */ (
  JSON.parse(readFileSync(new URL('package-names.json', import.meta.url), 'utf8'))
);

/** Public entry points: the source file of each, and its name without the scope (`server/serve`, `mcp-saga/studio`). */
const entries = packageNames.flatMap((name) => {
  const manifest = JSON.parse(readFileSync(new URL(`${name}/package.json`, packages), 'utf8'));
  return Object.entries(/** @type {Record<string, string>} */ (manifest.exports))
    .filter(([entry, file]) => entry !== './internal' && file.endsWith('.ts'))
    .map(([entry, file]) => ({
      name: `${manifest.name.replace('@mcp-saga/', '')}${entry.slice(1)}`,
      file: `../packages/${name}/${file.slice(2)}`,
    }));
});

/**
 * Gives TypeDoc the entry points of all packages, and names each page after its import.
 * @param {import('typedoc').Application} app
 */
export function load(app) {
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    app.options.setValue(
      'entryPoints',
      entries.map(({ file }) => file),
    );
    app.options.setValue('pageTitleTemplates', {
      module: (/** @type {{ name: string }} */ { name }) =>
        name.startsWith('mcp-saga') ? name : `@mcp-saga/${name}`,
    });
  });
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return;
    const found = entries.find(({ file }) =>
      [`../packages/${reflection.name}.ts`, `../packages/${reflection.name}/index.ts`].includes(
        file,
      ),
    );
    if (found !== undefined) reflection.name = found.name;
  });
}
