/** Statement at the top level of a file, with its comments. */
const statement =
  /^(?:(?:\/\*\*[^]*?\*\/|\/\/.*)\n)*(?:import|export|const|let|async|function|class|type|interface)\b.*\n(?:(?:[ )\]}].*)?\n)*/gm;
const declaration = /^(?:export )?(?:async )?(?:const|let|function\*?|class|type|interface) (\w+)/m;

/** Removes the comments that mark regions for the pages. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/^ *\/\/ #(?:end)?region.*\n/gm, '');
}

/**
 * Returns the names that a region declares. Without such a region, its name is that of a
 * declaration.
 */
export function declaredIn(text: string, region: string): readonly string[] {
  const [, code] =
    new RegExp(`// #region ${region}\n([^]*?)// #endregion ${region}\n`).exec(text) ?? [];
  return code === undefined
    ? [region]
    : (code.match(statement) ?? []).flatMap((each) => declaredBy(each) ?? []);
}

/**
 * Returns the statements that declare some names, those that they use, and their imports.
 * @param exported - further names, which the part exports
 */
export function partOf(
  text: string,
  names: readonly string[],
  exported: readonly string[],
): string {
  const statements = withoutMarks(text).match(statement) ?? [];
  const wanted = new Set([...names, ...exported]);
  for (const name of wanted) {
    const code = statements.find((each) => declaredBy(each) === name) ?? '';
    for (const other of statements.flatMap((each) => declaredBy(each) ?? []))
      if (uses(code, other)) wanted.add(other);
  }
  const kept = statements.filter((code) => wanted.has(declaredBy(code) ?? '')).join('');
  const imports = statements.flatMap((code) => importsOf(code, kept)).join('');
  const body = kept.replaceAll(/^(?:const|function) (\w+)/gm, (code, name: string) =>
    exported.includes(name) ? `export ${code}` : code,
  );
  return `${imports}\n${body.trim()}\n`;
}

function declaredBy(code: string): string | undefined {
  return code.startsWith('import') ? undefined : declaration.exec(code)?.[1];
}

/**
 * `true` if code outside its comments contains a name, but not as a property or as a word of a
 * string.
 */
function uses(code: string, name: string): boolean {
  const bare = code.replaceAll(/^ *\/?\*.*$|(?:^| )\/\/.*$/gm, '');
  return new RegExp(String.raw`(?<![\w'.-])${name}\b(?!['-]|\??: )`).test(bare);
}

/** Returns an import of the used names only, or nothing. */
function importsOf(code: string, kept: string): readonly string[] {
  const [line, clause = '', from] = /^import (?:type )?([^;]+) from ('.+');\n/m.exec(code) ?? [];
  if (line === undefined) return [];
  const used = (clause.match(/\w+(?: \w+)*/g) ?? []).filter((name) =>
    uses(kept, name.replace(/.* /, '')),
  );
  if (used.length === 0) return [];
  return [clause.startsWith('*') ? line : `import { ${used.join(', ')} } from ${from};\n`];
}
