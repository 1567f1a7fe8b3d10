import { between, type Draw } from '../seeded.ts';

const mostTries = 60;

/** Waits a little, and longer each time. */
export async function backOff(draw: Draw, tries: number): Promise<void> {
  const ms = Math.min(1_500, 50 * 2 ** Math.min(tries, 6));
  await new Promise((resolve) => setTimeout(resolve, between(draw, ms / 2, ms)));
}

/**
 * A `fetch` that retries a request without a complete answer, or with a retryable error. The SDK retries nothing, so the
 * author of a client puts this below it. Bounded.
 */
export function steadyFetch(draw: Draw): typeof fetch {
  return async (input, init) => {
    // A stream of what may come later is not answered, but kept open.
    if (init?.method === 'GET') return await fetch(input, init);
    for (let tries = 1; ; tries += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- again, until it is answered
        const { status, headers, body } = await whole(input, init);
        if (status >= 502 && status <= 504) throw new Error(`The proxy answers ${status}.`);
        if (isForLater(body)) throw new Error('The server asks to send it again later.');
        return new Response(body, { status, headers });
      } catch (error) {
        if (init?.signal?.aborted === true || tries === mostTries) throw error;
        // oxlint-disable-next-line no-await-in-loop -- again, until it is answered
        await backOff(draw, tries);
      }
    }
  };
}

/** `true` if a body holds a retryable error: this process cannot continue the saga now, or its guard is down. */
function isForLater(body: ArrayBuffer | null): boolean {
  return body !== null && /"error":\{"code":-32603\b/.test(new TextDecoder().decode(body));
}

async function whole(input: Parameters<typeof fetch>[0], init: RequestInit | undefined) {
  const { status, headers, ...response } = await fetch(input, init).then(async (answer) => ({
    status: answer.status,
    headers: answer.headers,
    bytes: await answer.arrayBuffer(),
  }));
  // A response without content may not even have an empty one.
  return { status, headers, body: status === 204 || status === 202 ? null : response.bytes };
}
