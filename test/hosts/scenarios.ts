import { largeSize, rounds } from './server/sagas.ts';

/** One saga, with the expected answers and ending. */
export interface Scenario {
  /** Column of the table. */
  readonly title: string;
  readonly tool: string;
  /** The user's answer to a question, as an elicitation result. */
  answer(question: string): Answer;
  /** Effects that the server records, in order. */
  readonly effects: readonly string[];
  /** Texts expected in the model's input, in order. */
  readonly shown: readonly string[];
  /** `true` if hosts may cut the result. */
  readonly isLarge?: boolean;
  /** Time limit, in milliseconds. Default 90 s. */
  readonly limitMs?: number;
  /** `true` if the response to the first call is lost. */
  readonly isCut?: boolean;
  /** `true` if it runs only with `--long`. */
  readonly isLong?: boolean;
}

/** A user's answer. */
export type Answer =
  | { readonly action: 'accept'; readonly content: { readonly [field: string]: string } }
  | { readonly action: 'accept' | 'decline' };

const names = Array.from({ length: rounds }, (_, index) => `n${index + 1}`);

function accept(question: string): Answer {
  if (question.includes('color')) return { action: 'accept', content: { color: 'red' } };
  const [, number] = /Name number (\d+)/.exec(question) ?? [];
  return { action: 'accept', content: { name: number === undefined ? 'Ada' : `n${number}` } };
}

/** The scenarios, in the order of the table's columns. */
export const scenarios: readonly Scenario[] = [
  {
    title: 'two questions',
    tool: 'two_questions',
    answer: accept,
    effects: ['Ada likes red'],
    shown: ['Noted: Ada likes red.'],
  },
  {
    title: 'question, sampling',
    tool: 'question_and_model',
    answer: accept,
    effects: ['Ada: Yes.'],
    shown: ['The model says about Ada: Yes.'],
  },
  {
    title: '`all`',
    tool: 'both_at_once',
    answer: accept,
    effects: ['Ada likes red'],
    shown: ['Noted: Ada likes red.'],
  },
  {
    title: 'decline',
    tool: 'declined',
    answer: () => ({ action: 'decline' }),
    effects: [],
    shown: ['Action of the user: decline.'],
  },
  {
    title: `${rounds} rounds`,
    tool: 'twelve_rounds',
    answer: accept,
    effects: [names.join(' ')],
    shown: [`All names: ${names.join(' ')}.`],
  },
  {
    title: '25 s wait',
    tool: 'short_wait',
    answer: accept,
    effects: ['waited'],
    shown: ['The wait is over.'],
  },
  {
    title: '300 s wait',
    tool: 'long_wait',
    answer: accept,
    effects: ['waited'],
    shown: ['The wait is over.'],
    limitMs: 400_000,
    isLong: true,
  },
  {
    title: 'pages',
    tool: 'pages',
    answer: accept,
    effects: ['pages'],
    shown: ['Page 1: apples.', 'Page 2: pears.', 'Page 3: plums.'],
  },
  {
    title: 'URL question',
    tool: 'url_question',
    answer: () => ({ action: 'accept' }),
    effects: ['visited'],
    shown: ['The user visited the page.'],
  },
  {
    title: `${largeSize / 1000} kB result`,
    tool: 'large_result',
    answer: accept,
    effects: ['large'],
    shown: ['End of the large result.'],
    isLarge: true,
  },
  {
    title: 'progress',
    tool: 'reports_progress',
    answer: accept,
    effects: ['progressed'],
    shown: ['All five parts are done.'],
  },
  {
    title: 'task',
    tool: 'as_task',
    answer: accept,
    effects: ['Ada likes red'],
    shown: ['Noted by a task: Ada likes red.'],
  },
  {
    title: 'undo first',
    tool: 'holds_first',
    answer: accept,
    effects: ['held'],
    shown: ['Held for Ada.'],
  },
  {
    title: 'lost first response',
    tool: 'acts_first',
    answer: accept,
    effects: ['charged'],
    shown: ['Charged once.'],
    isCut: true,
  },
];
