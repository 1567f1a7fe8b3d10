import { readFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** Function of a template. */
export interface FunctionTemplate {
  readonly Metadata: {
    readonly BuildProperties: {
      readonly EntryPoints: string[];
      readonly Format: 'cjs';
      readonly Target: string;
      readonly Minify: boolean;
    };
  };
  readonly Properties: {
    readonly Handler: string;
    readonly Environment: { readonly Variables: { readonly [name: string]: string } };
    readonly FunctionUrlConfig: { readonly AuthType: string; readonly InvokeMode: string };
  };
}

/** Reads the function `Orders` of template.yaml, with the parameters of `sam deploy`. */
export async function readTemplate(parameters: {
  readonly [name: string]: string;
}): Promise<FunctionTemplate> {
  const text = await readFile(new URL('template.yaml', import.meta.url), 'utf8');
  const ref = { tag: '!Ref', resolve: (name: string) => parameters[name] ?? name };
  const getAtt = { tag: '!GetAtt', resolve: (name: string) => name };
  const { Resources } = parse(text, { customTags: [ref, getAtt] }) as {
    readonly Resources: { readonly Orders: FunctionTemplate };
  };
  return Resources.Orders;
}

/** Bundles the function into a folder, with the settings of `sam build`. */
export async function buildFunction({ Metadata }: FunctionTemplate, outdir: string): Promise<void> {
  const { EntryPoints, Format, Target, Minify } = Metadata.BuildProperties;
  await build({
    absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
    entryPoints: EntryPoints,
    format: Format,
    target: Target,
    minify: Minify,
    bundle: true,
    platform: 'node',
    outdir,
  });
}
