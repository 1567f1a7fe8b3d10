import {
  all,
  checkpoint,
  elicit,
  elicitUrl,
  progress,
  saga,
  sample,
  sleep,
  step,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import { z } from 'zod';

/**
 * Performs and records an effect. The runner compares the effects of a call with the expected ones.
 */
export type Act = (effect: string) => void;

const Name = z.object({ name: z.string() });
const Color = z.object({ color: z.string() });

/** Number of questions in `twelve_rounds`, each in its own round. */
export const rounds = 12;

/** Size of the result of `large_result`, in characters. */
export const largeSize = 100_000;

/**
 * Creates one saga for each shape of conversation.
 *
 * @param act - performs the effect of a saga
 */
export function createSagas(act: Act): readonly Program[] {
  const effect = (text: string) => step('effect', () => act(text));

  function* askBoth(): Steps<string> {
    const { name } = yield* elicit('name', { message: 'What is your name?', schema: Name });
    const { color } = yield* elicit('color', { message: `Which color, ${name}?`, schema: Color });
    return `${name} likes ${color}`;
  }

  function* wait(ms: number): Steps<string> {
    yield* sleep(ms);
    yield* effect('waited');
    return 'The wait is over.';
  }

  return [
    saga({ name: 'two_questions', version: '1', description: 'Asks two questions' }, function* () {
      const text = yield* askBoth();
      yield* effect(text);
      return `Noted: ${text}.`;
    }),
    saga(
      { name: 'question_and_model', version: '1', description: 'Asks the user, then the model' },
      function* () {
        const { name } = yield* elicit('name', { message: 'What is your name?', schema: Name });
        const verdict = yield* sample('verdict', {
          messages: [
            { role: 'user', content: { type: 'text', text: `Is ${name} a name? Yes or no?` } },
          ],
          maxTokens: 100,
        });
        const said = verdict.content.type === 'text' ? verdict.content.text : verdict.content.type;
        yield* effect(`${name}: ${said}`);
        return `The model says about ${name}: ${said}`;
      },
    ),
    saga(
      { name: 'both_at_once', version: '1', description: 'Asks two questions at once' },
      function* () {
        const [{ name }, { color }] = yield* all([
          elicit('name', { message: 'What is your name?', schema: Name }),
          elicit('color', { message: 'Which color?', schema: Color }),
        ]);
        yield* effect(`${name} likes ${color}`);
        return `Noted: ${name} likes ${color}.`;
      },
    ),
    saga({ name: 'declined', version: '1', description: 'Asks a question' }, function* () {
      const outcome = yield* elicit.outcome('name', {
        message: 'What is your name?',
        schema: Name,
      });
      if (outcome.action === 'accept') yield* effect(outcome.content.name);
      return `Action of the user: ${outcome.action}.`;
    }),
    saga(
      { name: 'twelve_rounds', version: '1', description: 'Asks twelve questions' },
      function* () {
        const names: string[] = [];
        for (let round = 1; round <= rounds; round += 1) {
          const { name } = yield* elicit(`name-${round}`, {
            message: `Name number ${round}?`,
            schema: Name,
          });
          names.push(name);
        }
        yield* effect(names.join(' '));
        return `All names: ${names.join(' ')}.`;
      },
    ),
    saga({ name: 'short_wait', version: '1', description: 'Waits for 25 seconds' }, () =>
      wait(25_000),
    ),
    saga({ name: 'long_wait', version: '1', description: 'Waits for 300 seconds' }, () =>
      wait(300_000),
    ),
    saga({ name: 'pages', version: '1', description: 'Shows three pages' }, function* () {
      yield* checkpoint('Page 1: apples.');
      yield* checkpoint('Page 2: pears.');
      yield* effect('pages');
      return 'Page 3: plums.';
    }),
    saga(
      { name: 'url_question', version: '1', description: 'Sends the user to a page' },
      function* () {
        yield* elicitUrl('visit', {
          message: 'Please sign in.',
          url: 'https://example.com/sign-in',
        });
        yield* effect('visited');
        return 'The user visited the page.';
      },
    ),
    saga({ name: 'large_result', version: '1', description: 'Returns a large text' }, function* () {
      yield* effect('large');
      return 'Line of text.\n'.repeat(Math.ceil(largeSize / 14)) + 'End of the large result.';
    }),
    saga({ name: 'reports_progress', version: '1', description: 'Reports progress' }, function* () {
      for (let done = 1; done <= 5; done += 1) {
        yield* progress(done, 5, `Part ${done}`);
        yield* step(
          `part-${done}`,
          () => new Promise<void>((resolve) => void setTimeout(resolve, 200)),
        );
      }
      yield* effect('progressed');
      return 'All five parts are done.';
    }),
    // A client that comes back by itself gets a token before the step.
    saga(
      { name: 'holds_first', version: '1', description: 'Holds a room, and asks', reuse: 'ok' },
      function* () {
        yield* step('hold', () => act('held'), { compensate: () => act('released') });
        const { name } = yield* elicit('name', { message: 'What is your name?', schema: Name });
        return `Held for ${name}.`;
      },
    ),
    saga({ name: 'acts_first', version: '1', description: 'Charges at once' }, function* () {
      yield* effect('charged');
      return 'Charged once.';
    }),
    saga(
      { name: 'as_task', version: '1', description: 'Asks, works, and asks again', task: 'prefer' },
      function* () {
        const { name } = yield* elicit('name', { message: 'What is your name?', schema: Name });
        yield* step('work', () => new Promise<void>((resolve) => void setTimeout(resolve, 3_000)));
        const { color } = yield* elicit('color', {
          message: `Which color, ${name}?`,
          schema: Color,
        });
        yield* effect(`${name} likes ${color}`);
        return `Noted by a task: ${name} likes ${color}.`;
      },
    ),
  ];
}
