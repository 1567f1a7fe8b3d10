import type { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { cancel, intro, log, outro } from '@clack/prompts';
import type {
  CallToolResult,
  SagaCall,
  SagaStep,
  ClientTurn,
  CompletedStep,
} from '@mcp-saga/client';
import type { Answering } from './answering.ts';
import type { ServerProcess } from '@mcp-saga/example-run-server';
import type { TurnReport } from './turn-reports.ts';

/** Shows what happens in a run. */
export interface Show {
  began(): void;
  servers(servers: readonly ServerProcess[]): void;
  calling(server: ServerProcess, call: SagaCall): void;
  resuming(server: ServerProcess, request: number, answers: readonly CompletedStep[]): void;
  /** Shows a completed turn, with the report of its process. */
  served(report: TurnReport, turn: ClientTurn): void;
  /** Shows the answers of a script. Prompts show the answers of a person. */
  scripted(answer: Answering): Answering;
  ended(result: CallToolResult): void;
  failed(error: unknown): void;
  stopped(): void;
}

/**
 * Creates a show in the style of clack: plain text if `output` is not a terminal or colors are
 * disabled.
 */
export function createShow(output: Writable): Show {
  const to = { output };
  const request = (number: number, { name }: ServerProcess, what: string): void =>
    log.step(`Request ${number} to ${bold(name)}: ${what}`, to);
  return {
    began: () => intro('One saga, two server processes that share only a key', to),
    servers: (servers) =>
      log.step(
        servers
          .map(
            ({ name, url, pid }) => `${bold(name)} serves ${url.href} ${dim(`(process ${pid})`)}`,
          )
          .join('\n'),
        to,
      ),
    calling: (server, call) =>
      request(1, server, `tools/callSaga ${call.name} ${dim(JSON.stringify(call.arguments))}`),
    resuming: (server, number, answers) =>
      request(
        number,
        server,
        `tools/resumeSaga ${dim(`with the token and the answer to ${answers.map(({ stepId }) => stepId).join(', ')}`)}`,
      ),
    served: ({ server, ran }, turn) => {
      const lines = ran.map((step) => `ran ${step}`);
      if (turn.status === 'suspended') {
        lines.push(
          ...turn.saga.steps.map(toQuestion),
          `gave a token of ${turn.saga.tokenBytes} bytes, and stored nothing`,
        );
      } else lines.push('ended the saga');
      log.message(
        lines.map((line) => `${bold(server)} ${line}`),
        { ...to, spacing: 0 },
      );
    },
    scripted: (answer) => async (step) => {
      const given = await answer(step);
      log.success(`Answered by script: ${toText(given)}`, to);
      return given;
    },
    ended: ({ content, isError }) => {
      if (isError === true) cancel(textOf(content), to);
      else outro(textOf(content), to);
    },
    failed: (error) => {
      log.error(error instanceof Error ? error.message : String(error), to);
      cancel('The saga did not end', to);
    },
    stopped: () => cancel('Stopped; no process is left behind', to),
  };
}

function toText({ result, error }: CompletedStep): string {
  if (error !== undefined) return `error ${error.code}`;
  if ('action' in result) return `${result.action} ${JSON.stringify(result.content)}`;
  return 'content' in result ? textOf(result.content) : JSON.stringify(result);
}

function textOf(content: object): string {
  const blocks: readonly object[] = Array.isArray(content) ? content : [content];
  return blocks
    .map((block) => ('text' in block ? String(block.text) : JSON.stringify(block)))
    .join('\n');
}

function toQuestion(step: SagaStep): string {
  switch (step.type) {
    case 'elicitation':
      return `asks the user (${step.stepId}): ${step.params.message}`;
    case 'sampling':
      return `asks the model (${step.stepId}): ${step.params.messages.map(({ content }) => textOf(content)).join('\n')}`;
    case 'roots':
      return `asks for the roots (${step.stepId})`;
  }
}

function bold(text: string): string {
  return styleText('bold', text);
}

function dim(text: string): string {
  return styleText('dim', text);
}
