import { ownManifest, type Manifest } from './package-json.ts';
import { versionOf, withDependencies, type Tarballs } from './tarballs.ts';
import { templates, type Language, type TemplateName } from './templates.ts';

/** Newest release for every supported version of Node. */
const wrangler = '~4.86.0';

/**
 * Makes the package.json of a new project.
 *
 * @param tarballs - packages that replace those on npm
 */
export function newManifest(
  template: TemplateName,
  language: Language,
  name: string,
  tarballs: Tarballs,
): Manifest {
  const { engines } = ownManifest();
  return {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    scripts: scriptsOf(template, language, tarballs),
    ...dependenciesOf(template, language, tarballs),
    ...(engines === undefined ? {} : { engines }),
  };
}

/**
 * Adds missing scripts and dependencies of a template to the package.json of an existing project.
 */
export function extendManifest(
  manifest: Manifest,
  template: TemplateName,
  tarballs: Tarballs,
): Manifest {
  const { dependencies, devDependencies } = dependenciesOf(template, 'javascript', tarballs);
  const installed = { ...manifest.dependencies, ...manifest.devDependencies };
  const missing = (wanted: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(wanted).filter(([name]) => !(name in installed)));
  return {
    ...manifest,
    scripts: { ...manifest.scripts, test: testOf(manifest) ?? 'vitest run' },
    dependencies: { ...manifest.dependencies, ...missing(dependencies) },
    devDependencies: { ...manifest.devDependencies, ...missing(devDependencies) },
  };
}

/** Returns the test script of a project, unless it is the one of `npm init`, which always fails. */
function testOf({ scripts }: Manifest): string | undefined {
  const test = scripts?.['test'];
  return test?.includes('no test specified') === true ? undefined : test;
}

function scriptsOf(
  template: TemplateName,
  language: Language,
  tarballs: Tarballs,
): Record<string, string> {
  const { start, path, keysFile } = templates[template];
  const [runner, extension] = language === 'typescript' ? ['tsx', 'ts'] : ['node', 'js'];
  const run = (source: string, flags = ''): string => `${runner} ${flags}${source}.${extension}`;
  return {
    ...(start === undefined
      ? {}
      : { start: 'source' in start ? run(start.source, '--env-file=.env ') : start.command }),
    call: `${run('client')} ${path ?? ''}`,
    // With tarballs, the project has the command line itself.
    dev: `${tarballs.size > 0 ? '' : 'npx -y '}mcp-saga dev ${path === '/api/mcp' ? 'api/mcp' : 'send-invoice'}.${extension} --env-file=${keysFile}`,
    test: 'vitest run',
    lint: 'oxlint',
    ...(language === 'typescript' ? { check: 'tsc' } : {}),
  };
}

function dependenciesOf(
  template: TemplateName,
  language: Language,
  tarballs: Tarballs,
): {
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
} {
  const { dependencies, devDependencies } = templates[template];
  const compiler = language === 'typescript' ? ['@types/node', 'tsx', 'typescript'] : [];
  // Without the dependencies of the tarballs, package managers would ask npm for them.
  const needed = withDependencies(dependencies, tarballs);
  const commandLine = tarballs.size > 0 && template !== 'existing-server' ? ['mcp-saga'] : [];
  const neededToDevelop = withDependencies([...devDependencies, ...commandLine], tarballs);
  return {
    dependencies: versionsOf(needed, tarballs),
    devDependencies: versionsOf(
      [...neededToDevelop.filter((name) => !needed.includes(name)), ...compiler],
      tarballs,
    ),
  };
}

function versionsOf(names: readonly string[], tarballs: Tarballs): Record<string, string> {
  // The sources name versions by aliases of the workspace, and a tarball names the versions.
  const { devDependencies } = tarballs.get('create-mcp-saga')?.manifest ?? ownManifest();
  const local = [...tarballs].map(([name, tarball]) => [name, versionOf(tarball)] as const);
  const known: Readonly<Record<string, string>> = {
    ...devDependencies,
    ...Object.fromEntries(local),
    wrangler,
  };
  return Object.fromEntries(
    names.toSorted().map((name) => {
      const version = known[name];
      if (version === undefined) throw new TypeError(`No version of '${name}' is known.`);
      return [name, version];
    }),
  );
}
