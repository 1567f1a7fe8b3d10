// `node compile-by-api.cjs TYPESCRIPT.js TSCONFIG.json…` checks each project as `tsc -p` does, and parses shared files once.
const [, , typescript, ...projects] = process.argv;
const ts = require(typescript);

const parsed = new Map();

for (const project of projects) {
  const system = {
    ...ts.sys,
    onUnRecoverableConfigFileDiagnostic: (diagnostic) => report([diagnostic]),
  };
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(project, {}, system);
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  const { module, moduleDetection, jsx, strict } = options;
  host.getSourceFile = (path, parsing, ...rest) => {
    const { languageVersion, impliedNodeFormat, jsDocParsingMode } = parsing;
    const how = [
      languageVersion,
      impliedNodeFormat,
      jsDocParsingMode,
      module,
      moduleDetection,
      jsx,
      strict,
    ];
    const key = JSON.stringify([path, ...how.map(String)]);
    if (!parsed.has(key)) parsed.set(key, getSourceFile(path, parsing, ...rest));
    return parsed.get(key);
  };
  const program = ts.createProgram(fileNames, options, host);
  report([...errors, ...ts.getPreEmitDiagnostics(program)]);
}

function report(diagnostics) {
  if (diagnostics.length === 0) return;
  const names = {
    getCanonicalFileName: String,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => '\n',
  };
  console.log(ts.formatDiagnostics(diagnostics, names));
  process.exitCode = 1;
}
