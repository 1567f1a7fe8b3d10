import { serveBothWays, type Fetch } from './serve-stateless.ts';

/**
 * Sends each request to both servers, and answers with a fault if a direct answer is not that of
 * the SDK.
 */
export interface Compared {
  readonly fetch: Fetch;
  /** Answers that were compared. */
  readonly count: () => number;
}

/**
 * Serves the sagas directly where that is possible, and compares each such answer with the SDK's.
 */
export async function serveCompared(): Promise<Compared> {
  const { direct, bySdk } = await serveBothWays();
  let compared = 0;
  return {
    count: () => compared,
    fetch: async (request) => {
      if (!isOfSaga(request)) return await bySdk(request);
      const body = await request.text();
      const again = (): Request =>
        new Request(request.url, { method: 'POST', headers: request.headers, body });
      const response = await direct(again());
      // Streams come from the SDK in either case, and unknown tools may be those of an extended
      // server.
      const isStream = response.headers.get('content-type') !== 'application/json';
      if (isStream || (await response.clone().text()).includes('not found'))
        return await bySdk(again());
      compared += 1;
      const seen = await visible(response.clone());
      const expected = await visible(await bySdk(again()));
      return seen === expected
        ? response
        : new Response(`${seen} is not ${expected}`, { status: 500 });
    },
  };
}

function isOfSaga({ headers }: Request): boolean {
  const method = headers.get('mcp-method') ?? '';
  return method.startsWith('tools/') && method !== 'tools/list';
}

/** All that a client sees, without tokens, IDs, and times. */
async function visible(response: Response): Promise<string> {
  const text = JSON.stringify([response.status, [...response.headers], await response.text()]);
  return text.replaceAll(/[\w-]{22,}(?:\.[\w-]*)*|\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');
}
