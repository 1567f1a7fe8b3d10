import type { ClientAnswer } from './client-step.ts';
import { encode } from './codec.ts';
import { InvalidInput } from './errors.ts';
import { historyOf, stateOf, type TimelineEntry } from './history.ts';
import { entriesOf } from './journal.ts';
import type { Json } from './json.ts';
import type { Outcome } from './outcome.ts';
import type { EndRequest, Program, ProgramState, Runtime } from './program.ts';
import { kindOf, outcomes } from './letters.ts';
import { isSameJson } from './same-json.ts';
import { validate, type Schema } from './standard-schema.ts';
import type { SagaBody } from './saga.ts';
import { decodeHead, encodeHead } from './head.ts';
import { Turn } from './turn.ts';

/** What a generator program needs of its saga. */
export interface GeneratorProgramOptions {
  readonly name: string;
  readonly input: Schema | undefined;
  readonly commitFirst: boolean;
  readonly declaresForks: boolean;
  readonly onMismatch: 'fail' | 'compensate';
  readonly body: SagaBody<never, unknown>;
}

/** Makes a program of a generator: its state is the journal. */
export function generatorProgram(
  options: GeneratorProgramOptions,
): Pick<Program, 'begin' | 'advance' | 'asked' | 'timeline' | 'history' | 'restore'> {
  return {
    begin: (args, progress) => begin(options, args, progress),
    advance: (
      state: ProgramState,
      answers: ReadonlyMap<string, ClientAnswer>,
      runtime: Runtime,
      end?: EndRequest,
    ): Promise<Outcome> => new Turn(options, state, runtime).take(answers, end),
    asked: (state) => Object.keys(decodeHead(state.head).asked),
    timeline,
    history: historyOf,
    restore: stateOf,
  };
}

async function begin(
  options: GeneratorProgramOptions,
  args: Json,
  progress: number | undefined,
): Promise<ProgramState> {
  let input: unknown = {};
  if (options.input !== undefined) {
    const parsed = await validate(options.input, args);
    if (!parsed.ok) throw new InvalidInput(`Invalid arguments for '${options.name}': ${parsed.issues}`);
    input = parsed.value;
  }
  // What the schema made of the arguments may hold what the client does not know: it is not compressed (T10).
  const stream = isSameJson(input, args) ? 'client' : 'server';
  const text = encode(input);
  return {
    head: encodeHead({ turn: 0, input: stream, progress, asked: {}, waits: {}, mismatch: undefined }),
    structure: '',
    client: stream === 'client' ? text : '',
    server: stream === 'server' ? text : '',
  };
}

function timeline(state: ProgramState): readonly TimelineEntry[] {
  const streams = {
    client: JSON.parse(`[${state.client}]`) as unknown[],
    server: JSON.parse(`[${state.server}]`) as unknown[],
  };
  const { input } = decodeHead(state.head);
  const size = (stream: 'client' | 'server'): number => JSON.stringify(streams[stream].shift())?.length ?? 0;
  const lines: TimelineEntry[] = [{ kind: 'input', path: '', outcome: 'parsed', bytes: size(input) }];
  for (const { letter, path } of entriesOf(JSON.parse(`[${state.structure}]`) as (string | number)[])) {
    const { outcome, stream } = outcomes[letter];
    lines.push({ kind: kindOf(letter), path, outcome, bytes: stream === 'none' ? 0 : size(stream) });
  }
  return lines;
}
