import {
  ClientCannot,
  elicit,
  elicitUrl,
  listRoots,
  poll,
  saga,
  sample,
  uuid,
} from '@mcp-saga/server';
import { z } from 'zod';

/** Accounts by the state of their sign-in. */
export const accounts: Map<string, string> = new Map();

// #region elicit
const Size = z.object({ size: z.enum(['small', 'large']) });

export const order = saga({ name: 'order', version: '1' }, function* () {
  const { size } = yield* elicit('size', { message: 'Which size?', schema: Size });
  return `One ${size} pizza.`;
});
// #endregion elicit

// #region elicit.outcome
const Email = z.object({ email: z.email() });

export const subscribe = saga({ name: 'subscribe', version: '1' }, function* () {
  const answer = yield* elicit.outcome('email', { message: 'Your email address?', schema: Email });
  if (answer.action !== 'accept') return 'Not subscribed.';
  return `Subscribed ${answer.content.email}.`;
});
// #endregion elicit.outcome

// #region elicitUrl
export const connect = saga({ name: 'connect', version: '1' }, function* () {
  const state = yield* uuid();
  const url = `https://app.example/sign-in?state=${state}`;
  yield* elicitUrl('sign-in', { message: 'Sign in to your account.', url });
  const account = yield* poll('account', () => accounts.get(state), {
    every: '2s',
    timeout: '10m',
  });
  yield* elicitUrl.complete('sign-in');
  return `Connected ${account}.`;
});
// #endregion elicitUrl

// #region sample
export const summarize = saga(
  { name: 'summarize', version: '1', input: z.object({ text: z.string() }) },
  function* ({ text }) {
    const { content } = yield* sample('summary', {
      messages: [
        { role: 'user', content: { type: 'text', text: `Summarize in one sentence: ${text}` } },
      ],
      maxTokens: 100,
    });
    return content.type === 'text' ? content.text : 'The model returned no text.';
  },
);
// #endregion sample

// #region sampleOrTruncate
export const shorten = saga(
  { name: 'shorten', version: '1', input: z.object({ text: z.string() }) },
  function* ({ text }) {
    try {
      const { content } = yield* sample('short', {
        messages: [
          { role: 'user', content: { type: 'text', text: `Shorten to ten words: ${text}` } },
        ],
        maxTokens: 50,
      });
      if (content.type === 'text') return content.text;
    } catch (error) {
      if (!(error instanceof ClientCannot)) throw error;
    }
    return text.split(' ').slice(0, 10).join(' ');
  },
);
// #endregion sampleOrTruncate

// #region listRoots
export const folders = saga({ name: 'folders', version: '1' }, function* () {
  const roots = yield* listRoots('roots');
  return roots.map(({ uri }) => uri).join('\n');
});
// #endregion listRoots
