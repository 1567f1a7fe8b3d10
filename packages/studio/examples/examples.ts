import { readFileSync } from 'node:fs';
import { compile } from '../src/engine/compile.ts';
import type { Example } from '../src/model/session.ts';
import { listed } from './listed.ts';

const repository = new URL('../../../', import.meta.url);

/** Reads the examples of the playground, without the comments that mark regions for the pages. */
export function readExamples(): readonly Example[] {
  return listed.map(({ name, title, files: paths }, index) => {
    const files = Object.entries(paths).map(([file, path]) => ({
      name: file,
      text: readFileSync(new URL(path, repository), 'utf8').replaceAll(/^ *\/\/ #(?:end)?region.*\n/gm, ''),
    }));
    return { name, title, files, ...(index === 0 ? { compiled: compile(files) } : {}) };
  });
}
