import { readFileSync } from 'node:fs';
import { compile } from '../src/engine/compile.ts';
import type { Example, Removable, SourceFile } from '../src/model/session.ts';
import { listed, type Listed } from './listed.ts';
import { declaredIn, partOf, withoutMarks } from './part-of.ts';

const repository = new URL('../../../', import.meta.url);

/**
 * File of the repository, and the names of the part that an example shows; undefined for the whole
 * file.
 */
interface Shown extends SourceFile {
  readonly names: readonly string[] | undefined;
}

/** Reads the examples of the playground, without the comments that mark regions for the pages. */
export function readExamples(): readonly Example[] {
  return listed.map((example, index) => {
    const { name, title, removes } = example;
    const files = readFiles(example);
    return {
      name,
      title,
      group: groupOf(example),
      files,
      ...(removes === undefined ? {} : { removable: removableIn(files[0], ...removes) }),
      ...(index === 0 ? { compiled: compile(files) } : {}),
    };
  });
}

/** Returns lines of a file, with the line before and the line after, which find their place again. */
function removableIn(file: SourceFile | undefined, start: string, count: number): Removable {
  const lines = file?.text.split(/(?<=\n)/) ?? [];
  const at = lines.findIndex((line) => line.trim().startsWith(start));
  const [before, after] = [lines[at - 1], lines[at + count]];
  if (file === undefined || before === undefined || after === undefined)
    throw new Error(`No file of the example has the line '${start}…' between others.`);
  return { file: file.name, before, removed: lines.slice(at, at + count).join(''), after };
}

/** Group of the list: a part of the docs, or `Examples`. */
function groupOf({ files }: Listed): string {
  const [path = ''] = Object.values(files);
  const [, part = 'examples'] = /^test\/docs\/(tutorial|guides|effects)\//.exec(path) ?? [];
  return part.charAt(0).toUpperCase() + part.slice(1);
}

function readFiles(example: Listed): readonly SourceFile[] {
  const shown = Object.entries(example.files).map(([name, path]): Shown => {
    const [file = '', region] = path.split('#');
    const text = readFileSync(new URL(file, repository), 'utf8');
    return { name, text, names: region === undefined ? undefined : declaredIn(text, region) };
  });
  const script = scriptOf(shown, example);
  const own = script === undefined ? [] : [{ name: 'script.ts', text: script, names: undefined }];
  const all = [...shown, ...own].map((file) => ({ ...file, text: withFakes(file.text, shown) }));
  return all.map(({ name, text, names }) => {
    if (names === undefined) return { name, text: withoutMarks(text) };
    // The script of a single file is one of its names.
    return { name, text: partOf(text, names, all.length === 1 ? names : importedFrom(name, all)) };
  });
}

/** Imports a fake of the files of Node. */
function withFakes(text: string, shown: readonly Shown[]): string {
  return shown.some(({ name }) => name === 'files.ts')
    ? text.replace('node:fs/promises', './files.ts')
    : text;
}

/** Returns the names that other files import from a file. */
function importedFrom(name: string, files: readonly SourceFile[]): readonly string[] {
  const imports = new RegExp(String.raw`^import \{([^}]+)\} from '\./${name}'`, 'gm');
  return files.flatMap(({ text }) =>
    [...text.matchAll(imports)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []),
  );
}

/** Writes the script of an example whose files have none. */
function scriptOf(
  shown: readonly Shown[],
  { saga, options, rules = '', harmless = [] }: Listed,
): string | undefined {
  const [first] = shown;
  if (first === undefined || shown.some(({ text }) => text.includes('testSaga('))) return undefined;
  const { name, text, names } = first;
  const sagas = text.matchAll(
    /^(?:export )?const (\w+)[^=]*= (?:saga|promptSaga|resourceSaga)\(/gm,
  );
  const last = [...sagas].findLast(([, each = '']) => names?.includes(each) ?? true)?.[1];
  const ran = saga ?? last ?? '';
  const [imported] = ran.split(/\W/, 1);
  const steps = harmless.map((step) => `'${step}'`).join(', ');
  return [
    "import { testSaga } from '@mcp-saga/testing';",
    `import { ${imported} } from './${name}';`,
    '',
    `export const script = testSaga(${options === undefined ? ran : `${ran}, ${options}`})${rules};`,
    ...(steps === '' ? [] : ['', harmlessComment, `export const harmless = [${steps}];`]),
    '',
  ].join('\n');
}

const harmlessComment =
  '/** Fakes may run twice, or stay done. Without this list, the matrix shows what real steps need. */';
