/** Stand-in for the endpoint of a model. Tickets about a fire are urgent. */
import { serve } from 'srvx';

export interface FakeModel {
  readonly url: string;
  /** Number of requests. */
  readonly asked: number;
  stop(): Promise<void>;
}

/** Serves `/v1/chat/completions` on a free port of 127.0.0.1. */
export async function startFakeModel(key: string): Promise<FakeModel> {
  let asked = 0;
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: async (request) => {
      if (request.headers.get('authorization') !== `Bearer ${key}`)
        return new Response(null, { status: 401 });
      if (new URL(request.url).pathname !== '/v1/chat/completions')
        return new Response(null, { status: 404 });
      asked += 1;
      const { model, messages } = (await request.json()) as {
        readonly model: string;
        readonly messages: readonly { readonly content: string }[];
      };
      const content = messages.some((message) => message.content.includes('fire'))
        ? 'urgent'
        : 'normal';
      return Response.json({
        model,
        choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
      });
    },
  });
  await server.ready();
  return {
    url: new URL('/v1', server.url).href,
    get asked() {
      return asked;
    },
    stop: () => server.close(true),
  };
}
