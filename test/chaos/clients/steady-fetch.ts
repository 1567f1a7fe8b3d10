import { between, type Draw } from '../seeded.ts';

const mostTries = 60;

/** Pauses before a retry, longer after each attempt. */
export async function backOff(draw: Draw, tries: number): Promise<void> {
  const ms = Math.min(1_500, 50 * 2 ** Math.min(tries, 6));
  await new Promise((resolve) => setTimeout(resolve, between(draw, ms / 2, ms)));
}

/**
 * A `fetch` that retries a request after an incomplete response or a retryable error, a limited
 * number of times. The SDK does not retry, so a client author would add this.
 */
export function steadyFetch(draw: Draw): typeof fetch {
  return async (input, init) => {
    // A GET request opens a notification stream, which stays open.
    if (init?.method === 'GET') return await fetch(input, init);
    for (let tries = 1; ; tries += 1) {
      try {
        const { status, headers, body } = await whole(input, init);
        if (status >= 502 && status <= 504) throw new Error(`The proxy answers ${status}.`);
        if (isForLater(body)) throw new Error('The server asks to send it again later.');
        return new Response(body, { status, headers });
      } catch (error) {
        if (init?.signal?.aborted === true || tries === mostTries) throw error;
        await backOff(draw, tries);
      }
    }
  };
}

/**
 * `true` if a body holds a retryable error: this process cannot continue the saga now, or its guard
 * is down.
 */
function isForLater(body: ArrayBuffer | null): boolean {
  return body !== null && /"error":\{"code":-32603\b/.test(new TextDecoder().decode(body));
}

async function whole(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  const { status, headers, ...response } = await fetch(input, init).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    bytes: await answer.arrayBuffer(),
  }));
  // A response with status 202 or 204 must not have a body, not even an empty one.
  return { status, headers, body: status === 204 || status === 202 ? null : response.bytes };
}
