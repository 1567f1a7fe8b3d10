/** A figure with its goal. */
export interface Figure {
  readonly what: string;
  readonly unit: 'us' | 'bytes' | 'ms' | 'MB' | 'errors';
  /** Value that the goal limits: our value, or the ratio of our value to that of the first peer. */
  readonly of: 'ours' | 'ratio';
  readonly atMost: number;
}

/** Numbers of concurrent requests. */
export const sizes = [1, 100, 2000] as const;

/** Figures, in the order of the output. */
export const figures = {
  ...ofSizes('load-by-hand', 'a request over HTTP, beside the tool by hand', 0.6),
  ...ofSizes('load-trivial', "a request over HTTP, beside the SDK's trivial tool", 0.9),
  'shape-plain': ratio("a first call, beside the SDK's trivial tool, without HTTP", 0.65),
  'shape-plain-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-progress': ratio('the same call with a progress token, as Claude Code sends it', 1),
  'shape-progress-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-charset': ratio('the same call with a character set', 1),
  'shape-charset-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-chunked': ratio('the same call without a length', 1),
  'shape-chunked-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-log-level': ratio('the same call with a log level', 1),
  'shape-log-level-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-icons': ratio('the same call of a client with icons', 1),
  'shape-icons-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'shape-2025': ratio('the same call of MCP 2025-06-18', 1.5),
  'shape-2025-sagas': ratio('the same with 1,000 sagas, beside 1', 1.2),
  'load-shape-plain': inShape('', 0.9),
  'load-shape-plain-p99': waitInShape('', 0.9),
  'load-shape-progress': inShape(' with a progress token', 1),
  'load-shape-progress-p99': waitInShape(' with a progress token', 1),
  'load-shape-2025': inShape(' of MCP 2025-11-25', 1.5),
  'load-shape-2025-p99': waitInShape(' of MCP 2025-11-25', 1.5),
  'load-shapes-errors': {
    what: 'errors of 60,000 requests of 2,000 users in these three shapes',
    unit: 'errors',
    of: 'ours',
    atMost: 0,
  },
  'load-sessions': ratio('a request over HTTP, beside sessions, 100 at once', 1.15),
  'load-sagas': ratio('a request over HTTP with 1,000 registered sagas, beside 1', 1.1),
  'cold-start': {
    ...ratio('cold start to the first answer, beside the tool by hand', 0.5),
    unit: 'ms',
  },
  'two-questions': ratio(
    'two-question tool call by attach(), both requests through createMcpHandler',
    1,
  ),
  'seal-open-gcm': ratio('seal + open, 1.35 kB, claims and digests included', 1.6),
  'seal-open-codec': ratio('the same', 0.27),
  'replay-step': ours('replay of a server step', 0.4),
  'replay-elicitation': ours('replay of an elicitation', 0.45),
  'replay-compensate': ours('replay of a step with `compensate`', 0.45),
  'replay-input': ours('replay of a step with `input`', 0.6),
  'replay-call': ours('replay of a `call`', 1.2),
  resume: ours('resume at 1,000 steps, a step', 0.8),
  'resume-compensate': ours('resume at 1,000 steps with `compensate`, a step', 1),
  'all-1000': ratio('a step of `all` of 1,000, beside `all` of 10', 1.2),
  'machine-chain-5': ratio('turn of a machine, a chain of 5 states', 2.5),
  'machine-chain-40': ratio('turn of a machine, a chain of 40 states', 2.5),
  'machine-regions-8': ratio('turn of a machine, 8 regions that ask', 2.5),
  'machine-regions-32': ratio('turn of a machine, 32 regions that ask', 2.5),
  'machine-regions-128': ratio('turn of a machine, 128 regions that ask', 2.5),
  'machine-request': ratio('a request of a machine, beside a generator that does the same', 1.15),
  'machine-request-regions': ratio(
    'a request of a machine, a region of 50 that ask, beside one of 10',
    1.1,
  ),
  'guarded-turn': ratio('turn under memoryStore, beside no store', 1.25),
  'guarded-redis': ours('what a guard in Redis adds to a turn, beyond two round trips', 100),
  'guarded-database-redis': ours('processor time of Redis for a guarded turn', 100),
  'guarded-database-postgres': ours('processor time of PostgreSQL for a guarded turn', 400),
  'guards-memory': ratio(
    'a request over HTTP under a guard in memory, 20 at once, beside no guard',
    1.25,
  ),
  'guards-redis': guarded('Redis', 1.3),
  'guards-postgres': guarded('PostgreSQL', 1.3),
  'guards-sqlite': guarded('SQLite', 1.6),
  'guards-d1': guarded('D1', 1.3),
  'guards-durable-objects': guarded('Durable Objects', 1.3),
  'outside-memory': outside('in memory', 4),
  'outside-redis': outside('Redis and BullMQ', 4),
  'outside-postgres': outside('PostgreSQL and pg-boss, polled each 500 ms', 1.5),
  'outside-sqlite': outside('SQLite, and a queue in memory', 4),
  'outside-d1': outside('D1, and a queue in memory', 1.5),
  'outside-durable-objects': outside('Durable Objects and their alarms', 1.5),
  'commit-each-50': ratio('a step of a saga of 50 with commitEach', 10),
  'commit-each-100': ratio('a step of a saga of 100 with commitEach', 10),
  'commit-each-200': ratio('a step of a saga of 200 with commitEach', 10),
  'commit-each-400': ratio('a step of a saga of 400 with commitEach', 10),
  'hostile-call': ratio('a hostile call of 1 MB that fails, beside its JSON.parse', 3),
  'guard-live': bytes('memoryStore: memory of a live saga', 1000),
  'guard-finished': bytes('memoryStore: memory of a finished turn', 0),
  'store-bytes-suspended': bytes(
    'store: heads and bodies of a saga suspended after one turn',
    1100,
  ),
  'store-bytes-live': {
    ...ratio('store: a live saga of 60 answers, beside 2 tokens and 250 bytes a turn', 1),
    unit: 'bytes',
  },
  'suspended-redis': bytes('Redis: memory of each of 100,000 suspended sagas', 1700),
  'suspended-postgres': bytes(
    'PostgreSQL: table and indexes of each of 100,000 suspended sagas',
    1800,
  ),
  'suspended-expiry-redis': ratio('Redis: their expiry, each, beside their writing', 0.2),
  'suspended-expiry-postgres': ratio('PostgreSQL: their expiry, each, beside their writing', 0.2),
  'load-saga': bytes('heap of a suspended saga', 64),
  'load-heap-1': memory('heap of the process, 1 saga in flight'),
  'load-heap-100': memory('heap of the process, 100 in flight'),
  'load-heap-1000': memory('heap of the process, 1,000 in flight'),
  'load-rss-1': memory('memory of the process (RSS), 1 saga in flight'),
  'load-rss-100': memory('memory of the process (RSS), 100 in flight'),
  'load-rss-1000': memory('memory of the process (RSS), 1,000 in flight'),
  'journal-bytes': bytes('journal bytes of a server step, s0…s99 with {"i":n}', 18),
  'journal-bytes-input': bytes('the same, one ID, with input and key', 30),
  'journal-bytes-elicit': bytes('journal bytes of an elicitation', 36),
  'token-bytes-text': { ...ratio('token bytes over 100 turns: text', 0.42), unit: 'bytes' },
  'token-bytes-forms': { ...ratio('token bytes over 100 turns: forms', 0.29), unit: 'bytes' },
  'token-bytes-sampling': { ...ratio('token bytes over 100 turns: sampling', 0.19), unit: 'bytes' },
  'token-bytes-empty': bytes('token of an empty saga', 450),
  'token-bytes-info': bytes('token bytes of a read of `info()`', 25),
  'token-bytes-info-field': bytes('the same, if one field is read', 15),
  'machine-bytes-chain': bytes('state of a machine, a chain of 5 states', 151),
  'machine-bytes-regions': bytes('state of a machine, 8 regions that ask', 608),
  'bundle-size': bytes('core + seal without jose, minified and gzipped', 28_000),
  'bundle-size-server': bytes('server without jose and the SDK, minified and gzipped', 58_000),
  'import-time': { ...ours('import of the server, bundled', 9), unit: 'ms' },
} as const satisfies Record<string, Figure>;

/** The ID of a figure. */
export type FigureId = keyof typeof figures;

function ofSizes<Id extends string>(
  id: Id,
  what: string,
  atMost: number,
): Record<`${Id}-${(typeof sizes)[number]}`, Figure> {
  const all = sizes.map((size) => [
    `${id}-${size}`,
    ratio(`${what}, ${size.toLocaleString('en')} at once`, atMost),
  ]);
  return Object.fromEntries(all) as Record<`${Id}-${(typeof sizes)[number]}`, Figure>;
}

function inShape(shape: string, atMost: number): Figure {
  const what = `a request${shape} over HTTP, 2,000 users, beside the SDK's trivial tool`;
  return ratio(what, atMost);
}

function waitInShape(shape: string, atMost: number): Figure {
  const what = `99th percentile of the time on the clock of a request${shape}, 2,000 users, beside the SDK's trivial tool`;
  return { ...ratio(what, atMost), unit: 'ms' };
}

function guarded(where: string, atMost: number): Figure {
  return ratio(
    `a request over HTTP under a guard in ${where}, 20 at once, beside bare round trips`,
    atMost,
  );
}

function outside(stores: string, atMost: number): Figure {
  const what = `time on the clock from an answer to the next effect, beside a bare message of the queue: ${stores}`;
  return { ...ratio(what, atMost), unit: 'ms' };
}

function ratio(what: string, atMost: number): Figure {
  return { what, unit: 'us', of: 'ratio', atMost };
}

function ours(what: string, atMost: number): Figure {
  return { what, unit: 'us', of: 'ours', atMost };
}

function bytes(what: string, atMost: number): Figure {
  return { what, unit: 'bytes', of: 'ours', atMost };
}

function memory(what: string): Figure {
  return { what, unit: 'MB', of: 'ratio', atMost: 1.1 };
}
