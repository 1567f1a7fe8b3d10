import { readFileSync } from 'node:fs';
import { templates, type Language, type TemplateName } from './templates.ts';

/** Fields of a package.json that templates change. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Newest release for every supported version of Node. */
const wrangler = '~4.86.0';

/**
 * Reads the package.json of create-mcp-saga. The templates are tested with the versions of its
 * development dependencies.
 */
export function ownManifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest;
}

/** Makes the package.json of a new project. */
export function newManifest(template: TemplateName, language: Language, name: string): Manifest {
  const { engines } = ownManifest();
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: scriptsOf(template, language),
    ...dependenciesOf(template, language),
    ...(engines === undefined ? {} : { engines }),
  };
}

/**
 * Adds missing scripts and dependencies of a template to the package.json of an existing project.
 */
export function extendManifest(manifest: Manifest, template: TemplateName): Manifest {
  const { dependencies, devDependencies } = dependenciesOf(template, 'javascript');
  const installed = { ...manifest.dependencies, ...manifest.devDependencies };
  const missing = (wanted: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !(name in installed)));
  return {
    ...manifest,
    scripts: { test: 'vitest run', ...manifest.scripts },
    dependencies: { ...manifest.dependencies, ...missing(dependencies) },
    devDependencies: { ...manifest.devDependencies, ...missing(devDependencies) },
  };
}

function scriptsOf(template: TemplateName, language: Language): Record<string, string> {
  const { start, path, keysFile } = templates[template];
  const [runner, extension] = language === 'typescript' ? ['tsx', 'ts'] : ['node', 'js'];
  const run = (source: string, flags = ''): string => `${runner} ${flags}${source}.${extension}`;
  return {
    ...(start === undefined
      ? {}
      : { start: 'source' in start ? run(start.source, '--env-file=.env ') : start.command }),
    call: `${run('client')} http://127.0.0.1:3000${path ?? ''}`,
    dev: `npx -y mcp-saga dev ${path === '/api/mcp' ? 'api/mcp' : 'send-invoice'}.${extension} --env-file=${keysFile}`,
    test: 'vitest run',
    ...(language === 'typescript' ? { check: 'tsc' } : {}),
  };
}

function dependenciesOf(
  template: TemplateName,
  language: Language,
): {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
} {
  const { dependencies, devDependencies } = templates[template];
  const compiler = language === 'typescript' ? ['@types/node', 'tsx', 'typescript'] : [];
  return {
    dependencies: versionsOf(dependencies),
    devDependencies: versionsOf([...devDependencies, ...compiler]),
  };
}

function versionsOf(names: readonly string[]): Record<string, string> {
  const known: Readonly<Record<string, string>> = { ...ownManifest().devDependencies, wrangler };
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const version = known[name];
      if (version === undefined) throw new TypeError(`No version of '${name}' is known.`);
      return [name, version];
    }),
  );
}
