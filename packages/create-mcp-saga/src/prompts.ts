import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { select, text } from '@clack/prompts';
import type { Flags } from './flags.ts';
import type { ProjectOptions } from './project.ts';
import { templateNames, templates, type Language, type TemplateName } from './templates.ts';

/** Completes flags with defaults, without questions. */
export function withDefaults(flags: Flags): ProjectOptions {
  const { template = 'node', name, packages } = flags;
  const dir = flags.dir ?? defaultDir(template, flags);
  const language = flags.language ?? defaultLanguage(template, dir);
  return {
    template,
    language,
    dir,
    ...(name === undefined ? {} : { name }),
    ...(packages === undefined ? {} : { packages }),
  };
}

/**
 * Asks for missing options.
 *
 * @returns undefined if the user leaves a question
 */
export async function askOptions(flags: Flags): Promise<ProjectOptions | undefined> {
  const template = flags.template ?? (await askTemplate());
  if (template === undefined) return undefined;
  const dir = flags.dir ?? (await askDir(defaultDir(template, flags)));
  if (dir === undefined) return undefined;
  const language = flags.language ?? (await askLanguage(defaultLanguage(template, dir)));
  if (language === undefined) return undefined;
  return withDefaults({ ...flags, template, dir, language });
}

async function askTemplate(): Promise<TemplateName | undefined> {
  const options = templateNames.map((value) => {
    const { title: label, hint } = templates[value];
    return { value, label, hint };
  });
  return unlessCancelled(await select<TemplateName>({ message: 'Where does it run?', options }));
}

async function askDir(defaultValue: string): Promise<string | undefined> {
  return unlessCancelled(
    await text({ message: 'Folder', placeholder: defaultValue, defaultValue }),
  );
}

async function askLanguage(initialValue: Language): Promise<Language | undefined> {
  const options: { value: Language; label: string }[] = [
    { value: 'typescript', label: 'TypeScript' },
    { value: 'javascript', label: 'JavaScript' },
  ];
  return unlessCancelled(await select<Language>({ message: 'Language', options, initialValue }));
}

/** clack returns a symbol if the user leaves a prompt. */
function unlessCancelled<T>(answer: T): Exclude<T, symbol> | undefined {
  return typeof answer === 'symbol' ? undefined : (answer as Exclude<T, symbol>);
}

/** A project of the packages of a clone is made beside the clone, and not in it. */
function defaultDir(template: TemplateName, { name = 'my-sagas', packages }: Flags): string {
  if (template === 'existing-server') return '.';
  return packages === undefined ? name : join(packages, '..', name);
}

/** Detects JavaScript by a missing tsconfig.json. */
function defaultLanguage(template: TemplateName, dir: string): Language {
  if (template !== 'existing-server') return 'typescript';
  return existsSync(join(dir, 'tsconfig.json')) ? 'typescript' : 'javascript';
}
