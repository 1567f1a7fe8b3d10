import { elicitUrl, poll, saga, step, uuid } from '@mcp-saga/server';

/** Tokens by the state of their sign-in. They stay on the server. */
export const tokens: Map<string, string> = new Map();
/** Users that started a sign-in, by its state. */
const owners: Map<string, string> = new Map();
/** Users of your site, by the cookie of their session. */
export const sessions: Map<string, string> = new Map();

const github = {
  exchange: async (code: string): Promise<string> => `token of ${code}`,
  repositories: async (token: string | undefined): Promise<number> => (token === undefined ? 0 : 3),
};

// #region tool
export const importRepositories = saga({ name: 'import_repositories', version: '1' }, function* () {
  const state = yield* uuid();
  yield* step(
    'begin',
    ({ user }) => void owners.set(state, (user as { readonly subject: string }).subject),
  );
  yield* elicitUrl('sign-in', {
    message: 'Sign in to GitHub to import your repositories.',
    url: `https://app.example/github?state=${state}`,
  });
  yield* poll('signed-in', () => (tokens.has(state) ? true : undefined), {
    every: '2s',
    timeout: '10m',
  });
  yield* elicitUrl.complete('sign-in');
  const count = yield* step('import', () => github.repositories(tokens.get(state)));
  return `Imported ${count} repositories.`;
});
// #endregion tool

// #region callback
/** Answers `GET /github/callback`, to which GitHub redirects the browser of the user. */
export async function callback(request: Request): Promise<Response> {
  const { searchParams } = new URL(request.url);
  const state = searchParams.get('state') ?? '';
  const [, session = ''] =
    /(?:^|; )session=([^;]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
  const user = sessions.get(session);
  if (user === undefined || user !== owners.get(state))
    return new Response('Sign in to this site as the user of the assistant.', { status: 403 });
  tokens.set(state, await github.exchange(searchParams.get('code') ?? ''));
  return new Response('You are signed in, and can close this page.');
}
// #endregion callback
