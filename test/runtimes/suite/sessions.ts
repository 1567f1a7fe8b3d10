import { randomUUID } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { Subject } from '../subject.ts';
import { answers, expectOnce, orderText } from './order.ts';

type Answer = (typeof answers)['elicitation/create'];

/** Schema that accepts every result. */
const anyResult = {
  '~standard': {
    version: 1,
    vendor: 'suite',
    validate: (value: unknown) => ({ value: value as object }),
  },
} as const;

/** Tests the dialects with a session, in which the server asks its client during a call. */
export function sessionsSuite(subject: Subject): void {
  describe.each([1, 2] as const)('a session of SDK version %i', (sdk) => {
    /** Connects a client that answers forms and reports the notifications of the server. */
    async function connect(
      onForm: () => Answer | Promise<Answer>,
      onToken: (token: string) => void = () => undefined,
    ): Promise<Client> {
      const capabilities = {
        elicitation: { form: {} },
        sampling: {},
        // A capability of a proposal (SEP-975).
        resumableRequests: {},
      };
      const client = new Client({ name: 'suite', version: '1' }, { capabilities });
      client.setRequestHandler('elicitation/create', onForm);
      client.setRequestHandler('sampling/createMessage', () => answers['sampling/createMessage']);
      client.fallbackNotificationHandler = ({ params }) => {
        const token = params?.['resumeToken'];
        if (typeof token === 'string') onToken(token);
        return Promise.resolve();
      };
      await client.connect(new StreamableHTTPClientTransport(subject.session(sdk)));
      return client;
    }

    it('[P1] [W1] [E1] runs each step of a pushed call once', async () => {
      const label = randomUUID();
      const client = await connect(() => answers['elicitation/create']);
      try {
        const result = await client.callTool({ name: 'order', arguments: { label } });
        expect(result).toMatchObject({ content: [{ text: orderText }] });
      } finally {
        await client.close();
      }
      expectOnce(await subject.effects(label));
    });

    it('[P1] [W1] [E1] resumes a call that was cut at a question in another session', async () => {
      const label = randomUUID();
      const tokens: string[] = [];
      let asked = (): void => undefined;
      const isAsked = new Promise<void>((resolve) => (asked = resolve));
      const near = await connect(
        () => {
          asked();
          return new Promise<never>(() => undefined);
        },
        (token) => tokens.push(token),
      );
      const lost = near
        .callTool({ name: 'order', arguments: { label } })
        .catch((error: unknown) => error);
      await isAsked;
      await near.close();
      expect(await lost).toBeInstanceOf(Error);
      const far = await connect(() => answers['elicitation/create']);
      try {
        const resumed = { method: 'requests/resume', params: { resumeToken: tokens.at(-1) } };
        expect(await far.request(resumed, anyResult)).toMatchObject({
          content: [{ text: orderText }],
        });
      } finally {
        await far.close();
      }
      expectOnce(await subject.effects(label));
    });
  });
}
