import type * as v2 from '@modelcontextprotocol/client';
import type { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import type * as v1 from '@modelcontextprotocol/sdk/types.js';
import { expectTypeOf, test } from 'vitest';
import type {
  CallToolResult,
  ContentBlock,
  ElicitationParams,
  ElicitationResult,
  FormElicitation,
  McpClient,
  RootsResult,
  SagaStep,
  SamplingParams,
  SamplingResult,
  StepHandlers,
} from '../src/index.ts';

test('accepts the Client of either SDK', () => {
  expectTypeOf<v2.Client>().toExtend<McpClient>();
  expectTypeOf<ClientV1>().toExtend<McpClient>();
});

test('returns results with the types of the SDKs', () => {
  expectTypeOf<CallToolResult>().toExtend<v2.CallToolResult>();
  expectTypeOf<CallToolResult>().toExtend<v1.CallToolResult>();
});

test('names a block of content as the SDKs do, so that a saga can return a block of theirs', () => {
  expectTypeOf<v2.ContentBlock>().toExtend<ContentBlock>();
  expectTypeOf<v1.ContentBlock>().toExtend<ContentBlock>();
});

test('accepts results with the types of the SDKs from handlers', () => {
  expectTypeOf<v2.ElicitResult>().toExtend<ElicitationResult>();
  expectTypeOf<v1.ElicitResult>().toExtend<ElicitationResult>();
  expectTypeOf<v2.CreateMessageResult>().toExtend<SamplingResult>();
  expectTypeOf<v1.CreateMessageResult>().toExtend<SamplingResult>();
  expectTypeOf<v2.ListRootsResult>().toExtend<RootsResult>();
  expectTypeOf<v1.ListRootsResult>().toExtend<RootsResult>();
});

test('accepts handlers with the parameter types of the SDKs', () => {
  expectTypeOf<FormElicitation>().toExtend<v2.ElicitRequestFormParams>();
  expectTypeOf<FormElicitation>().toExtend<v1.ElicitRequestFormParams>();
  expectTypeOf<SamplingParams>().toExtend<v2.CreateMessageRequestParams>();
  expectTypeOf<SamplingParams>().toExtend<v1.CreateMessageRequestParams>();
});

test('types the arguments of handlers, and distinguishes forms, pages, and steps', () => {
  type Elicit = NonNullable<StepHandlers['elicitation']>;
  expectTypeOf<Parameters<Elicit>[0]>().toEqualTypeOf<ElicitationParams>();
  expectTypeOf<Extract<ElicitationParams, { mode: 'url' }>['url']>().toEqualTypeOf<string>();
  expectTypeOf<Extract<SagaStep, { type: 'sampling' }>['params']>().toEqualTypeOf<SamplingParams>();
});
