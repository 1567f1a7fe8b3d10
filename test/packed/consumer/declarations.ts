// Everything that is declared, apart from `serve`, which brings along all that the SDK declares.
export type * as client from '@mcp-saga/client';
export type * as cloudflare from '@mcp-saga/cloudflare';
export type * as core from '@mcp-saga/core';
export type * as program from '@mcp-saga/core/program';
export type * as eslintPlugin from '@mcp-saga/eslint-plugin';
export type * as opentelemetry from '@mcp-saga/opentelemetry';
export type * as queues from '@mcp-saga/queues';
export type * as redis from '@mcp-saga/redis';
export type * as seal from '@mcp-saga/seal';
export type * as server from '@mcp-saga/server';
export type * as stores from '@mcp-saga/server/stores';
export type * as sql from '@mcp-saga/sql';
export type * as testing from '@mcp-saga/testing';
export type * as fastCheck from '@mcp-saga/testing/fast-check';
export type * as guard from '@mcp-saga/testing/guard';
export type * as node from '@mcp-saga/testing/node';
export type * as xstate from '@mcp-saga/xstate';
