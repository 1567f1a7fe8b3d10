import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { build } from 'esbuild';
import ts from 'typescript-5';
import { repository } from './packages.ts';

/** A function of the packages that was entered. */
export interface Entered {
  /** Path below `packages`. */
  readonly file: string;
  readonly name: string;
}

/** What a guarded `tools/resumeSaga` over HTTP enters. */
export interface Trace {
  /** The functions that are entered before the first step of the author, in order. */
  readonly beforeStep: readonly Entered[];
  /** The functions that the whole request enters, in order. */
  readonly all: readonly Entered[];
  /** The requests of the whole turn to the guard, by their names. */
  readonly requests: readonly string[];
}

/** Traces one request, from the HTTP request to its response. */
export async function traceRequest(): Promise<Trace> {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-trace-'));
  try {
    const program = join(folder, 'traced-request.mjs');
    await build({
      entryPoints: [join(repository, 'test/architecture/traced-request.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      banner: {
        js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
      },
      logLevel: 'error',
      plugins: [
        {
          name: 'report-entered-functions',
          setup: (bundling) => {
            bundling.onLoad({ filter: /\/packages\/[a-z-]+\/src\/.*\.ts$/ }, ({ path }) => ({
              contents: withReports(path),
              loader: 'ts',
              resolveDir: dirname(path),
            }));
          },
        },
      ],
    });
    const printed = execFileSync(process.execPath, [program], { encoding: 'utf8' });
    const trace = JSON.parse(printed) as Trace;
    // No figure is better than a low one that counted nothing.
    if (trace.beforeStep.length === 0 || trace.requests.length === 0)
      throw new Error('The traced request entered nothing.');
    return trace;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The code of a source file, in which each function first reports that it is entered. */
function withReports(path: string): string {
  const text = readFileSync(path, 'utf8');
  const file = JSON.stringify(relative(join(repository, 'packages'), path));
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const inserted: { readonly at: number; readonly text: string }[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body !== undefined) {
      const report = `globalThis.onEnter?.(${file}, ${JSON.stringify(nameOf(node, source))})`;
      const { body } = node;
      if (ts.isBlock(body)) {
        inserted.push({ at: startOfBody(node, body, source), text: `${report};` });
      } else {
        inserted.push({ at: body.getStart(source), text: `(${report}, ` });
        inserted.push({ at: body.getEnd(), text: ')' });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  let result = text;
  for (const { at, text: insert } of inserted.toSorted((one, other) => other.at - one.at))
    result = result.slice(0, at) + insert + result.slice(at);
  return result;
}

/** Nothing may come before `super` in a constructor of a derived class. */
function startOfBody(node: ts.Node, body: ts.Block, source: ts.SourceFile): number {
  const first = body.statements.find((statement) => statement.getText(source).startsWith('super('));
  return ts.isConstructorDeclaration(node) && first !== undefined
    ? first.getEnd()
    : body.getStart(source) + 1;
}

function nameOf(node: ts.SignatureDeclaration, source: ts.SourceFile): string {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  const named = node.name ?? (ts.isVariableDeclaration(node.parent) ? node.parent.name : undefined);
  if (named !== undefined) return named.getText(source);
  return `line ${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`;
}
