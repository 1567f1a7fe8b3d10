/** A figure to reach. */
export type Figure = {
  readonly what: string;
  readonly unit: 'us' | 'bytes' | 'ms' | 'MB' | 'a second';
  /** What is to be reached: ours, or ours through the first peer's. */
  readonly of: 'ours' | 'ratio';
} & (
  | { readonly atMost: number; readonly atLeast?: never }
  | { readonly atLeast: number; readonly atMost?: never }
);

/** The figures to reach, in the order they are printed. */
export const figures = {
  'seal-open-codec': {
    what: 'seal + open, 1.35 KB, claims and digests included',
    unit: 'us',
    atMost: 0.3,
    of: 'ratio',
  },
  'seal-open-gcm': { what: 'the same', unit: 'us', atMost: 2, of: 'ratio' },
  'replay-step': { what: 'replay of one server step', unit: 'us', atMost: 0.5, of: 'ours' },
  'replay-elicitation': { what: 'replay of one elicitation', unit: 'us', atMost: 0.5, of: 'ours' },
  resume: { what: 'resume at 1,000 steps, a step', unit: 'us', atMost: 3, of: 'ours' },
  'two-questions': {
    what: 'two-question tool call, both requests through createMcpHandler',
    unit: 'us',
    atMost: 1,
    of: 'ratio',
  },
  'load-requests-1': {
    what: 'requests over HTTP, 1 saga in flight',
    unit: 'a second',
    atLeast: 1,
    of: 'ratio',
  },
  'load-requests-100': {
    what: 'requests over HTTP, 100 in flight',
    unit: 'a second',
    atLeast: 1,
    of: 'ratio',
  },
  'load-requests-1000': {
    what: 'requests over HTTP, 1,000 in flight',
    unit: 'a second',
    atLeast: 1,
    of: 'ratio',
  },
  'load-cpu-1': { what: 'processor time of a request, 1 saga in flight', unit: 'us', atMost: 1, of: 'ratio' },
  'load-cpu-100': { what: 'processor time of a request, 100 in flight', unit: 'us', atMost: 1, of: 'ratio' },
  'load-cpu-1000': {
    what: 'processor time of a request, 1,000 in flight',
    unit: 'us',
    atMost: 1,
    of: 'ratio',
  },
  'load-heap-1': { what: 'heap of the process, 1 saga in flight', unit: 'MB', atMost: 1.1, of: 'ratio' },
  'load-heap-100': { what: 'heap of the process, 100 in flight', unit: 'MB', atMost: 1.1, of: 'ratio' },
  'load-heap-1000': { what: 'heap of the process, 1,000 in flight', unit: 'MB', atMost: 1.1, of: 'ratio' },
  'load-rss-1': {
    what: 'memory of the process (RSS), 1 saga in flight',
    unit: 'MB',
    atMost: 1.1,
    of: 'ratio',
  },
  'load-rss-100': {
    what: 'memory of the process (RSS), 100 in flight',
    unit: 'MB',
    atMost: 1.1,
    of: 'ratio',
  },
  'load-rss-1000': {
    what: 'memory of the process (RSS), 1,000 in flight',
    unit: 'MB',
    atMost: 1.1,
    of: 'ratio',
  },
  'load-saga': { what: 'heap that a suspended saga takes', unit: 'bytes', atMost: 64, of: 'ours' },
  'commit-each-50': { what: 'a step of a saga of 50 that keeps each', unit: 'us', atMost: 10, of: 'ratio' },
  'commit-each-100': { what: 'the same of 100', unit: 'us', atMost: 10, of: 'ratio' },
  'commit-each-200': { what: 'the same of 200', unit: 'us', atMost: 10, of: 'ratio' },
  'commit-each-400': { what: 'the same of 400', unit: 'us', atMost: 10, of: 'ratio' },
  'journal-bytes': {
    what: 'journal bytes of a server step, tiny result',
    unit: 'bytes',
    atMost: 25,
    of: 'ours',
  },
  'token-bytes': { what: 'token bytes over 100 turns, all corpora', unit: 'bytes', atMost: 0.3, of: 'ratio' },
  'token-bytes-text': { what: 'of these: text', unit: 'bytes', atMost: 0.3, of: 'ratio' },
  'token-bytes-forms': { what: 'of these: forms', unit: 'bytes', atMost: 0.3, of: 'ratio' },
  'token-bytes-sampling': { what: 'of these: sampling', unit: 'bytes', atMost: 0.3, of: 'ratio' },
  'machine-chain-5': { what: 'turn of a machine, a chain of 5 states', unit: 'us', atMost: 110, of: 'ours' },
  'machine-chain-40': { what: 'the same of 40 states', unit: 'us', atMost: 110, of: 'ours' },
  'machine-regions-8': { what: 'the same, 8 regions that ask', unit: 'us', atMost: 450, of: 'ours' },
  'machine-bytes-chain': { what: 'state of a machine, a chain of 5', unit: 'bytes', atMost: 151, of: 'ours' },
  'machine-bytes-regions': { what: 'the same, 8 regions that ask', unit: 'bytes', atMost: 608, of: 'ours' },
  'bundle-size': {
    what: 'core + seal without jose, minified and gzipped',
    unit: 'bytes',
    atMost: 20 * 1024,
    of: 'ours',
  },
  'import-time': { what: 'import of core + seal + jose, bundled', unit: 'ms', atMost: 30, of: 'ours' },
} as const satisfies Record<string, Figure>;

/** The id of a figure. */
export type FigureId = keyof typeof figures;
